import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { formatTime } from '../../../components/time.ts';

interface Props {
  readonly secret: string;
  /** Until when the one before it signs as well. */
  readonly oldUntil?: string | null;
}

/** A secret, the one time it can be seen. */
export function SecretShown({ secret, oldUntil = null }: Props): ReactElement {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Requests are signed with this secret. Keep it where the receiver finds it: it is not shown again.
      </Text>
      <Group gap="xs" wrap="nowrap" align="center">
        <Code block flex={1} aria-label="Secret" className="user-text">
          {secret}
        </Code>
        <CopyButton value={secret} timeout={3_000}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              leftSection={copied ? <CheckIcon aria-hidden /> : <CopyIcon aria-hidden />}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      {oldUntil === null ? null : (
        <Alert color="blue">
          The former secret goes on for a day: until {formatTime(oldUntil, 'dateTime')} every request is signed with
          both. Give the receiver the new one before then.
        </Alert>
      )}
    </Stack>
  );
}
