import { ActionIcon, Button, Fieldset, Group, Input, Stack, TextInput } from '@mantine/core';
import { PlusIcon, TrashIcon } from '@radix-ui/react-icons';
import { headerLimits, headerPointer } from '@usher/contract/webhook-headers';
import type { ReactElement } from 'react';
import type { Faults } from '../../../components/faults.ts';
import { texts } from '../texts.ts';
import { Legend } from './legend.tsx';
import type { Header } from '../channels/headers.ts';

interface Props {
  readonly value: readonly Header[];
  readonly onChange: (value: readonly Header[]) => void;
  readonly faults: Faults;
}

/** Headers sent with every request. */
export function HeaderFields({ value, onChange, faults }: Props): ReactElement {
  const set = (at: number, part: Partial<Header>): void =>
    onChange(value.map((header, index) => (index === at ? { ...header, ...part } : header)));
  const ownFaults = value.map(({ name }) => faults(headerPointer(name)));
  // The error of all headers together, unless a single header shows one.
  const together = ownFaults.some((fault) => fault !== undefined) ? undefined : faults('/headers');
  return (
    <Fieldset variant="unstyled" legend={<Legend>{texts.headers}</Legend>}>
      <Input.Description>{texts.headersHelp}</Input.Description>
      <Stack gap="xs" mt={6}>
        {value.map(({ name, value: text }, index) => (
          // Rows have no identity but their index.
          // oxlint-disable-next-line react/no-array-index-key
          <Group key={index} gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              aria-label={texts.headerName(index + 1)}
              placeholder={texts.name}
              value={name}
              error={ownFaults[index]}
              onChange={(event) => set(index, { name: event.currentTarget.value })}
              flex={2}
            />
            <TextInput
              aria-label={texts.headerValue(index + 1)}
              placeholder={texts.value}
              autoComplete="off"
              value={text}
              onChange={(event) => set(index, { value: event.currentTarget.value })}
              flex={3}
            />
            <ActionIcon
              variant="default"
              size={36}
              aria-label={texts.removeHeader(index + 1)}
              onClick={() => onChange(value.filter((_, other) => other !== index))}
            >
              <TrashIcon aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          size="xs"
          variant="default"
          w="fit-content"
          leftSection={<PlusIcon aria-hidden />}
          disabled={value.length >= headerLimits.count}
          onClick={() => onChange([...value, { name: '', value: '' }])}
        >
          {texts.addHeader}
        </Button>
      </Stack>
      {together === undefined ? null : <Input.Error mt={6}>{together}</Input.Error>}
    </Fieldset>
  );
}
