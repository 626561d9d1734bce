import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { formatTime } from '../../../components/time/time.ts';
import { texts } from '../texts.ts';

interface Props {
  readonly secret: string;
  /** Until when the previous secret signs, too. */
  readonly oldUntil?: string | null;
}

/** Shows a new secret once. */
export function NewSecret({ secret, oldUntil = null }: Props): ReactElement {
  return (
    <Stack gap="sm">
      <Text size="sm">{texts.secretShownHelp}</Text>
      <Group gap="xs" wrap="nowrap" align="center">
        <Code block flex={1} aria-label={texts.secret} className="user-text">
          {secret}
        </Code>
        <CopyButton value={secret} timeout={3_000}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              leftSection={copied ? <CheckIcon aria-hidden /> : <CopyIcon aria-hidden />}
            >
              {copied ? texts.copied : texts.copy}
            </Button>
          )}
        </CopyButton>
      </Group>
      {oldUntil === null ? null : <Alert color="blue">{texts.oldSecretUntil(formatTime(oldUntil, 'dateTime'))}</Alert>}
    </Stack>
  );
}
