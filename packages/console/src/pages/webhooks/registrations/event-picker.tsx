import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  Input,
  Loader,
  Paper,
  ScrollArea,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useState, type ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { texts } from '../texts.ts';
import type { EventName } from './fields.ts';
import { Legend } from './legend.tsx';
import { useEventTypes } from '../catalogue/use-event-types.ts';

interface Props {
  readonly value: readonly EventName[];
  readonly onChange: (value: readonly EventName[]) => void;
  readonly error: string | undefined;
}

/** The subscribed event types, searchable by name and description. */
export function EventPicker({ value, onChange, error }: Props): ReactElement {
  const { read, matching } = useEventTypes();
  const [search, setSearch] = useState('');
  const shown = matching(search);
  const chosen = new Set(value);
  const names = shown.map(({ event_type }) => event_type);
  const toggle = (name: EventName, on: boolean): void =>
    onChange(on ? [...value, name] : value.filter((other) => other !== name));
  return (
    <Fieldset
      variant="unstyled"
      legend={<Legend>{texts.eventsSelected(value.length)}</Legend>}
      aria-label={texts.events}
    >
      <Group gap="xs" my={6}>
        <TextInput
          aria-label={texts.searchEventTypes}
          placeholder={texts.searchByNameOrDescription}
          leftSection={<MagnifyingGlassIcon aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          flex={1}
          miw={180}
        />
        <Button
          size="xs"
          variant="default"
          onClick={() => onChange([...new Set([...value, ...names])])}
          disabled={names.every((name) => chosen.has(name))}
        >
          {search === '' ? texts.selectAll : texts.selectThese}
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={() => onChange(value.filter((name) => !names.includes(name)))}
          disabled={!names.some((name) => chosen.has(name))}
        >
          {search === '' ? texts.none : texts.clearThese}
        </Button>
      </Group>
      <ProblemNote error={read.error} />
      <Paper withBorder>
        <ScrollArea.Autosize mah={300} viewportProps={{ tabIndex: 0, 'aria-label': texts.eventTypes }}>
          <Stack gap="xs" p="sm">
            {read.isPending ? <Loader size="sm" aria-label={texts.loading} /> : null}
            {read.isSuccess && shown.length === 0 ? <Text size="sm">{texts.noMatchingEventTypes}</Text> : null}
            {shown.map(({ event_type: name, description }) => (
              <Checkbox
                key={name}
                checked={chosen.has(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
                label={name}
                description={description}
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Paper>
      {error === undefined ? null : <Input.Error mt={6}>{error}</Input.Error>}
    </Fieldset>
  );
}
