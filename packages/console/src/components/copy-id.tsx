import { Button, Code, Group } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { ReactElement } from 'react';
import { texts } from './texts.ts';

interface Props {
  readonly id: string;
  /** The owner of the id, for the accessible name: `site Shop`. */
  readonly of: string;
}

/** An id that can be read, selected and copied. */
export function CopyId({ id, of }: Props): ReactElement {
  const clipboard = useClipboard({ timeout: 2_000 });
  return (
    <Group gap={4}>
      <Code>{id}</Code>
      <Button variant="subtle" size="compact-xs" aria-label={texts.copyIdOf(of)} onClick={() => clipboard.copy(id)}>
        {clipboard.copied ? texts.copied : clipboard.error === null ? texts.copy : texts.pressCtrlC}
      </Button>
    </Group>
  );
}
