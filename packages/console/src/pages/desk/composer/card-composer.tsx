import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core';
import { maxMessageLength, maxOptionLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { texts } from '../texts.ts';

interface Props {
  readonly send: (content: string, options: readonly { readonly text: string; readonly value: string }[]) => void;
}

/** Visitors do not read more choices. */
const maxOptions = 10;

/** A question with choices. Empty choices are dropped. */
export function CardComposer({ send }: Props): ReactElement {
  const [question, setQuestion] = useState('');
  const [options, setOptions] = useState<readonly string[]>(['', '']);
  const filled = [...new Set(options.map((text) => text.trim()).filter((text) => text !== ''))];
  const isReady = question.trim() !== '' && filled.length > 0;
  const submit = (event: Pick<Event, 'preventDefault'>): void => {
    event.preventDefault();
    if (isReady)
      send(
        question.trim(),
        filled.map((text) => ({ text, value: text })),
      );
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" w={260}>
        <Textarea
          label={texts.question}
          autosize
          minRows={1}
          maxRows={4}
          maxLength={maxMessageLength}
          value={question}
          onChange={({ currentTarget }) => setQuestion(currentTarget.value)}
          data-autofocus
        />
        {options.map((option, index) => (
          <TextInput
            // oxlint-disable-next-line react/no-array-index-key -- a typed option has no other identity than its index.
            key={index}
            aria-label={texts.choice(index + 1)}
            placeholder={texts.choice(index + 1)}
            maxLength={maxOptionLength}
            value={option}
            onChange={({ currentTarget }) => setOptions(options.with(index, currentTarget.value))}
          />
        ))}
        <Group justify="space-between">
          <Button
            variant="subtle"
            size="compact-sm"
            disabled={options.length >= maxOptions}
            onClick={() => setOptions([...options, ''])}
          >
            {texts.addChoice}
          </Button>
          <Button type="submit" size="compact-sm" disabled={!isReady}>
            {texts.sendCard}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
