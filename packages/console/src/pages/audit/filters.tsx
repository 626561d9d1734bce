import { Button, Group, Select, TextInput } from '@mantine/core';
import type { ReactElement } from 'react';
import { usePeople } from '../people/use-people.ts';
import { texts } from './texts.ts';
import { actionWords, knownActions, knownTypes, plainName } from './words.ts';

/** The filters, as stored in the URL, so that a search can be shared. */
export type Asked = Readonly<Record<'actor' | 'action' | 'type' | 'target' | 'since' | 'until', string>>;

interface Props {
  readonly asked: Asked;
  readonly set: (part: Partial<Asked>) => void;
}

/** Filters by person, resource and time. The site is chosen at the top of the page. */
export function AuditFilters({ asked, set }: Props): ReactElement {
  const people = usePeople().data ?? [];
  const isAsked = Object.values(asked).some((value) => value !== '');
  const actions = knownActions.filter((action) => asked.type === '' || action.startsWith(`${asked.type}.`));
  return (
    <Group gap="xs" mb="md" align="flex-end" component="search" aria-label={texts.filters}>
      <Select
        label={texts.person}
        placeholder={texts.anyone}
        data={people.map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
        value={asked.actor === '' ? null : asked.actor}
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
        data={knownTypes.map((value) => ({ value, label: plainName(value) }))}
        value={asked.type === '' ? null : asked.type}
        onChange={(type) => set({ type: type ?? '', action: '' })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': texts.allResources }}
        w={170}
      />
      <Select
        label={texts.action}
        placeholder={texts.allActions}
        data={actions.map((value) => ({ value, label: actionWords(value) }))}
        value={asked.action === '' ? null : asked.action}
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
        value={asked.since}
        onChange={(event) => set({ since: event.currentTarget.value })}
      />
      <TextInput
        label={texts.to}
        type="datetime-local"
        w={205}
        value={asked.until}
        onChange={(event) => set({ until: event.currentTarget.value })}
      />
      {isAsked ? (
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
