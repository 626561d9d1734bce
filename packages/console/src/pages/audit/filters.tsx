import { Button, Group, Select, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { usePeople } from '../people/use-people.ts';
import { texts } from './texts.ts';
import { describeAction, allActions, allResourceTypes, spaced } from './describe.ts';

/** The filters, as stored in the URL, so that a search can be shared. */
export type FilterInputs = Readonly<Record<'actor' | 'action' | 'type' | 'target' | 'since' | 'until', string>>;

interface Props {
  readonly inputs: FilterInputs;
  readonly set: (part: Partial<FilterInputs>) => void;
}

/** Filters by person, resource and time. The site is chosen at the top of the page. */
export function AuditFilters({ inputs, set }: Props): ReactElement {
  const people = usePeople().data ?? [];
  const isFiltered = Object.values(inputs).some((value) => value !== '');
  const actions = allActions.filter((action) => inputs.type === '' || action.startsWith(`${inputs.type}.`));
  return (
    <Group gap="xs" mb="md" align="flex-end" component="search" aria-label={texts.filters}>
      <Select
        label={texts.person}
        placeholder={texts.anyone}
        data={people.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
        value={inputs.actor === '' ? null : inputs.actor}
        onChange={(actor) => set({ actor: actor ?? '' })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': texts.anyone }}
        limit={100}
        w={180}
      />
      <Select
        label={texts.resource}
        placeholder={texts.allResources}
        data={allResourceTypes.map((value) => ({ value, label: spaced(value) }))}
        value={inputs.type === '' ? null : inputs.type}
        onChange={(type) => set({ type: type ?? '', action: '' })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': texts.allResources }}
        w={170}
      />
      <Select
        label={texts.action}
        placeholder={texts.allActions}
        data={actions.map((value) => ({ value, label: describeAction(value) }))}
        value={inputs.action === '' ? null : inputs.action}
        onChange={(action) => set({ action: action ?? '' })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': texts.allActions }}
        w={220}
      />
      <TextInput
        label={texts.from}
        type="datetime-local"
        w={205}
        value={inputs.since}
        onChange={(event) => set({ since: event.currentTarget.value })}
      />
      <TextInput
        label={texts.to}
        type="datetime-local"
        w={205}
        value={inputs.until}
        onChange={(event) => set({ until: event.currentTarget.value })}
      />
      {isFiltered ? (
        <Button
          variant="default"
          onClick={() => set({ actor: '', action: '', type: '', target: '', since: '', until: '' })}
        >
          {texts.clearFilters}
        </Button>
      ) : null}
    </Group>
  );
}
