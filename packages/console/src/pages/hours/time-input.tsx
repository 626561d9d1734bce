import { TextInput } from '@mantine/core';
import { minutesOf } from '@usher/contract/opening-times';
import type { KeyboardEvent, ReactElement } from 'react';
import { normalizeTime, stepMinutes, timeOf } from './week.ts';

const latest = 24 * 60;

interface Props {
  readonly label: string;
  readonly value: string;
  readonly error?: string | undefined;
  readonly onChange: (time: string) => void;
}

/** A time of day, including `24:00`. The arrow keys change it by 15 minutes; `9` and `930` are accepted. */
export function TimeInput({ label, value, error, onChange }: Props): ReactElement {
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowUp' ? stepMinutes : event.key === 'ArrowDown' ? -stepMinutes : 0;
    const minutes = minutesOf(normalizeTime(value));
    if (by === 0 || minutes === null) return;
    event.preventDefault();
    onChange(timeOf(Math.min(Math.max(minutes + by, 0), latest)));
  };
  return (
    <TextInput
      aria-label={label}
      size="xs"
      w={72}
      placeholder="09:00"
      inputMode="numeric"
      maxLength={8}
      classNames={{ input: 'tabular' }}
      value={value}
      error={error !== undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={() => {
        if (normalizeTime(value) !== value) onChange(normalizeTime(value));
      }}
      onKeyDown={onKeyDown}
    />
  );
}
