import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useState, type ReactElement } from 'react';
import { texts } from '../texts.ts';
import { isUuid, type Filters } from './filter.ts';
import { stateNames, states } from '../labels.ts';
import { useEventTypes } from '../catalogue/use-event-types.ts';

interface Props {
  readonly value: Filters;
  readonly onChange: (part: Partial<Filters>) => void;
  readonly onClear: () => void;
}

/** The filters of the delivery list. */
export function DeliveryFilters({ value, onChange, onClear }: Props): ReactElement {
  const { all } = useEventTypes();
  const isFiltered = Object.values(value).some((part) => part !== '');
  return (
    <Group gap="xs" align="flex-start" mb="sm" component="search" aria-label={texts.deliveries}>
      <Select
        aria-label={texts.state}
        size="sm"
        w={140}
        data={[
          { value: '', label: texts.allStates },
          ...stateNames.map((name) => ({ value: name, label: states[name].label })),
        ]}
        value={value.state}
        onChange={(state) => onChange({ state: state ?? '' })}
        allowDeselect={false}
      />
      <Select
        aria-label={texts.eventType}
        w={{ base: 200, sm: 260 }}
        data={[
          { value: '', label: texts.allEventTypes },
          ...all.map(({ event_type }) => ({ value: event_type, label: event_type })),
        ]}
        value={value.type}
        onChange={(type) => onChange({ type: type ?? '' })}
        allowDeselect={false}
        searchable
      />
      <TextInput
        aria-label={texts.from}
        leftSection={<Text size="xs">{texts.fromValue}</Text>}
        leftSectionWidth={46}
        title={texts.eventsFrom}
        type="datetime-local"
        value={value.since}
        onChange={(event) => onChange({ since: event.currentTarget.value })}
      />
      <TextInput
        aria-label={texts.to}
        leftSection={<Text size="xs">{texts.toValue}</Text>}
        leftSectionWidth={46}
        title={texts.eventsBefore}
        type="datetime-local"
        value={value.until}
        onChange={(event) => onChange({ until: event.currentTarget.value })}
      />
      <IdSearch key={value.id} value={value.id} onChange={(id) => onChange({ id })} />
      {isFiltered ? (
        <Button variant="subtle" onClick={onClear}>
          {texts.clearFilters}
        </Button>
      ) : null}
    </Group>
  );
}

/** Searches once the id is complete, because parts of an id cannot be searched. */
function IdSearch({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (id: string) => void;
}): ReactElement {
  const [text, setText] = useState(value);
  const trimmed = text.trim();
  const isComplete = trimmed === '' || isUuid(trimmed);
  return (
    <TextInput
      aria-label={texts.searchById}
      placeholder={texts.searchByIdExample}
      leftSection={<MagnifyingGlassIcon aria-hidden />}
      w={290}
      value={text}
      error={isComplete ? null : texts.enterFullId}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        if (next.trim() === '' || isUuid(next.trim())) onChange(next.trim());
      }}
    />
  );
}
