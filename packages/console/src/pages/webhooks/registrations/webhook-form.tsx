import { Checkbox, MultiSelect, Radio, SegmentedControl, Stack, Switch, TextInput } from '@mantine/core';
import { maxDescriptionLength } from '@usher/contract/limits';
import type { ReactElement } from 'react';
import { useMe } from '../../../data/use-me.ts';
import type { Faults } from '../../../components/faults.ts';
import { channels } from '../channels/channels.ts';
import { texts } from '../texts.ts';
import { DestinationFields } from './destination-fields.tsx';
import { EventPicker } from './event-picker.tsx';
import type { WebhookFields } from './fields.ts';

export interface FieldsProps {
  readonly fields: WebhookFields;
  readonly set: (part: Partial<WebhookFields>) => void;
  readonly faults: Faults;
}

/** The fields of a webhook, without its secret: that is generated, shown once, and rotated. */
export function WebhookForm({ fields, set, faults }: FieldsProps): ReactElement {
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label={texts.type}
        value={fields.kind}
        onChange={(kind) => set({ kind })}
        data={channels.map(({ kind, label }) => ({ value: kind, label }))}
        w="fit-content"
      />
      <DestinationFields kind={fields.kind} draft={fields} set={set} faults={faults} />
      <TextInput
        label={texts.description}
        description={texts.descriptionHelp}
        maxLength={maxDescriptionLength}
        value={fields.description}
        error={faults('/description')}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      <EventPicker value={fields.events} onChange={(events) => set({ events })} error={faults('/events')} />
      <SitesField fields={fields} set={set} faults={faults} />
      <Checkbox
        label={texts.deliverInOrderPerConversation}
        description={texts.deliverInOrderHelp}
        checked={fields.ordering === 'engagement'}
        onChange={(event) => set({ ordering: event.currentTarget.checked ? 'engagement' : 'none' })}
      />
      <Switch
        label={texts.enabled}
        description={texts.enabledHelp}
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
  // A chosen site that the operator cannot see any more stays in the list.
  const others = (siteIds ?? []).filter((id) => !mine.some((site) => site.id === id));
  return (
    <Stack gap="xs">
      <Radio.Group
        label={texts.sites}
        value={siteIds === null ? 'all' : 'some'}
        onChange={(which) => set({ siteIds: which === 'all' ? null : me.siteId === null ? [] : [me.siteId] })}
      >
        <Stack gap={6} mt={6}>
          <Radio value="all" label={texts.allSitesOption} />
          <Radio value="some" label={texts.selectedSites} />
        </Stack>
      </Radio.Group>
      {siteIds === null ? null : (
        <MultiSelect
          aria-label={texts.selectedSites}
          placeholder={siteIds.length === 0 ? texts.selectSites : ''}
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
