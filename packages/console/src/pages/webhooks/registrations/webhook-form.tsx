import { Checkbox, MultiSelect, Radio, SegmentedControl, Stack, Switch, TextInput } from '@mantine/core';
import { maxDescriptionLength } from '@usher/contract/limits';
import type { ReactElement } from 'react';
import { useMe } from '../../../data/use-me.ts';
import type { Faults } from '../../../components/faults.ts';
import { channels } from '../channels/channels.ts';
import { DestinationFields } from './destination-fields.tsx';
import { EventPicker } from './event-picker.tsx';
import type { WebhookFields } from './fields.ts';

export interface FieldsProps {
  readonly fields: WebhookFields;
  readonly set: (part: Partial<WebhookFields>) => void;
  readonly faults: Faults;
}

/** Every field of a webhook. Its secret is not among them: it is made, shown once, and rotated. */
export function WebhookForm({ fields, set, faults }: FieldsProps): ReactElement {
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="Kind"
        value={fields.kind}
        onChange={(kind) => set({ kind })}
        data={channels.map(({ kind, label }) => ({ value: kind, label }))}
        w="fit-content"
      />
      <DestinationFields kind={fields.kind} draft={fields} set={set} faults={faults} />
      <TextInput
        label="Description"
        description="What it is called in lists"
        maxLength={maxDescriptionLength}
        value={fields.description}
        error={faults('/description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <EventPicker value={fields.events} onChange={(events) => set({ events })} error={faults('/events')} />
      <SitesField fields={fields} set={set} faults={faults} />
      <Checkbox
        label="Events of an engagement arrive in their order"
        description="One that fails keeps those behind it waiting for a while. Without, each is sent as it comes."
        checked={fields.ordering === 'engagement'}
        onChange={(event) => set({ ordering: event.currentTarget.checked ? 'engagement' : 'none' })}
      />
      <Switch
        label="On"
        description="While it is off, what happens is held, and can be recovered."
        checked={fields.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.checked })}
      />
    </Stack>
  );
}

function SitesField({ fields, set, faults }: FieldsProps): ReactElement {
  const me = useMe();
  const mine = me.sites.filter(({ id }) => me.can('super_manager', id));
  const { siteIds } = fields;
  // One of a site that is no longer mine to see still names it.
  const others = (siteIds ?? []).filter((id) => !mine.some((site) => site.id === id));
  return (
    <Stack gap="xs">
      <Radio.Group
        label="Sites"
        value={siteIds === null ? 'all' : 'some'}
        onChange={(which) => set({ siteIds: which === 'all' ? null : me.siteId === null ? [] : [me.siteId] })}
      >
        <Stack gap={6} mt={6}>
          <Radio value="all" label="All sites where the person who registered it is super manager" />
          <Radio value="some" label="These only" />
        </Stack>
      </Radio.Group>
      {siteIds === null ? null : (
        <MultiSelect
          aria-label="Sites it hears of"
          placeholder={siteIds.length === 0 ? 'Choose sites' : ''}
          data={[
            ...mine.map(({ id, name }) => ({ value: id, label: name })),
            ...others.map((id) => ({ value: id, label: id })),
          ]}
          value={[...siteIds]}
          onChange={(ids) => set({ siteIds: ids })}
          error={faults('/site_ids')}
          searchable
        />
      )}
    </Stack>
  );
}
