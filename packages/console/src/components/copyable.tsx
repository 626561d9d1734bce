import { Button, Group, Textarea, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useRef, type ReactElement } from 'react';
import { texts } from './texts.ts';

interface Props {
  readonly label: string;
  readonly value: string;
  readonly description?: string;
  /** Shown on several lines. */
  readonly long?: boolean;
}

/** A text to copy: selected on focus, copied by a button. */
export function Copyable({ label, value, description, long = false }: Props): ReactElement {
  const clipboard = useClipboard({ timeout: 2_000 });
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const copy = (): void => {
    // Where the page cannot write to the clipboard, the selected text is copied by hand.
    field.current?.select();
    clipboard.copy(value);
  };
  const shared = {
    ref: field,
    label,
    value,
    readOnly: true,
    flex: 1,
    miw: 200,
    onFocus: (): void => field.current?.select(),
    styles: { input: { fontFamily: 'var(--mantine-font-family-monospace)' } },
    ...(description === undefined ? {} : { description }),
  };
  return (
    <Group align="flex-end" gap="xs">
      {long ? <Textarea autosize minRows={2} {...shared} /> : <TextInput {...shared} />}
      <Button variant="default" onClick={copy} aria-label={texts.copyLabel(label)}>
        {clipboard.copied ? texts.copied : clipboard.error === null ? texts.copy : texts.pressCtrlC}
      </Button>
    </Group>
  );
}
