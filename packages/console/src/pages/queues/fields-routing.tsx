import {
  Anchor,
  Checkbox,
  Fieldset,
  Group,
  MultiSelect,
  NumberInput,
  Radio,
  Select,
  Stack,
  Switch,
} from '@mantine/core';
import { maxAffinitySec, maxPageSize } from '@usher/contract/limits';
import { media, type Medium } from '@usher/contract/media';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { circleOf } from './fallbacks.ts';
import { field, ifTyped, plainField, typedNumber, type FieldsProps, type Typed } from './fields.ts';
import { inUnits } from '../../components/duration.ts';
import { mediumName } from '../../components/medium.ts';
import { usePolicies, useQueues } from './use-queues.ts';

export const routingFields = {
  media: field<readonly Medium[]>({
    label: 'Media',
    initial: [],
    read: ({ routing_policy }) => media.filter((medium) => routing_policy.media?.includes(medium) === true),
    write: (chosen) => ({ routing_policy: chosen.length === 0 ? {} : { media: chosen } }),
    show: (chosen) => (chosen.length === 0 ? 'every medium' : chosen.join(', ')),
  }),
  team_ids: field<readonly string[]>({
    label: 'Teams',
    initial: [],
    read: ({ routing_policy }) => (routing_policy.team_ids ?? []).toSorted(),
    write: (team_ids) => ({ routing_policy: team_ids.length === 0 ? {} : { team_ids } }),
    show: (ids, names) => (ids.length === 0 ? 'everybody' : ids.map((id) => names.get(id) ?? id).join(', ')),
  }),
};

export function RoutingFields({ draft, set, fault, siteId }: FieldsProps<typeof routingFields>): ReactElement {
  const teams = useRead(
    'GET /teams',
    { query: { site_ids: [siteId], per_page: maxPageSize } },
    { enabled: siteId !== '' },
  );
  return (
    <Fieldset legend="Who comes in">
      <Stack>
        <Checkbox.Group
          label="Media"
          description="None: every medium"
          value={[...draft.media]}
          error={fault('/routing_policy/media')}
          onChange={(chosen) => set({ media: media.filter((medium) => chosen.includes(medium)) })}
        >
          <Group mt="xs">
            {media.map((medium) => (
              <Checkbox key={medium} value={medium} label={mediumName(medium)} />
            ))}
          </Group>
        </Checkbox.Group>
        <MultiSelect
          label="Teams"
          description="Their visitors come in, their operators serve. None: everybody"
          searchable
          clearable
          value={[...draft.team_ids]}
          error={fault('/routing_policy/team_ids')}
          onChange={(chosen) => set({ team_ids: chosen.toSorted() })}
          data={(teams.data?.data.teams ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          nothingFoundMessage="No team of this site"
        />
      </Stack>
    </Fieldset>
  );
}

/** An hour to begin with, when affinity is switched on. */
const usualAffinitySec = 3_600;
const atMost = `${maxAffinitySec / 86_400} days at most`;

export const serviceFields = {
  when_unstaffed: plainField('when_unstaffed', {
    label: 'When nobody staffs it',
    initial: 'reject',
    show: (value) => (value === 'accept' ? 'let them wait' : 'let nobody in'),
  }),
  operator_ranking_enabled: plainField('operator_ranking_enabled', {
    label: 'Chosen by rank',
    initial: false,
    show: (value) => (value ? 'yes' : 'no'),
  }),
  /** Seconds; `null`: not wanted. */
  operator_affinity: field<Typed | null>({
    label: 'Wait for the last operator',
    initial: null,
    read: ({ operator_affinity }) => operator_affinity?.time_window_sec ?? null,
    write: (value) => ({ operator_affinity: value === null ? null : ifTyped('time_window_sec', value) }),
    show: (value) => (value === null || value === '' ? 'no' : inUnits(value)),
  }),
};

export function ServiceFields({ draft, set, fault }: FieldsProps<typeof serviceFields>): ReactElement {
  const affinity = draft.operator_affinity;
  return (
    <Fieldset legend="How they are served">
      <Stack>
        <Radio.Group
          label="When nobody staffs it"
          value={draft.when_unstaffed}
          onChange={(value) => set({ when_unstaffed: value === 'accept' ? 'accept' : 'reject' })}
        >
          <Group mt="xs">
            <Radio value="reject" label="Let nobody in" />
            <Radio value="accept" label="Let them wait" />
          </Group>
        </Radio.Group>
        <Switch
          label="Operators are chosen by their rank"
          checked={draft.operator_ranking_enabled}
          onChange={(event) => set({ operator_ranking_enabled: event.currentTarget.checked })}
        />
        <Switch
          label="Wait for the operator the visitor spoke with last"
          checked={affinity !== null}
          onChange={(event) => set({ operator_affinity: event.currentTarget.checked ? usualAffinitySec : null })}
        />
        {affinity === null ? null : (
          <NumberInput
            label="For how many seconds"
            description={affinity === '' ? atMost : `${inUnits(affinity)}; ${atMost}`}
            allowDecimal={false}
            clampBehavior="none"
            maw={260}
            value={affinity}
            error={fault('/operator_affinity')}
            onChange={(value) => set({ operator_affinity: typedNumber(value) })}
          />
        )}
      </Stack>
    </Fieldset>
  );
}

export const linkFields = {
  scheduling_policy_id: plainField('scheduling_policy_id', {
    label: 'Hours',
    initial: null,
    show: (id, names) => (id === null ? 'always open' : (names.get(id) ?? id)),
  }),
  fallback_queue_id: plainField('fallback_queue_id', {
    label: 'Fallback queue',
    initial: null,
    show: (id, names) => (id === null ? 'none' : (names.get(id) ?? id)),
  }),
};

export function LinkFields({ draft, set, fault, siteId, queueId }: FieldsProps<typeof linkFields>): ReactElement {
  const me = useMe();
  const policies = usePolicies().data?.data.scheduling_policies ?? [];
  const queues = useQueues().data?.data.queues ?? [];
  const byId = new Map(queues.map((queue) => [queue.id, queue]));
  const circle = queueId === null ? null : circleOf(queueId, draft.fallback_queue_id, byId);
  const siteNames = new Map(me.sites.map(({ id, name }) => [id, name]));
  const fallbacks = queues.filter(({ id, site_id }) => id !== queueId && me.can('super_manager', site_id));
  const named = new Set(fallbacks.map(({ id }) => id));
  const kept = draft.fallback_queue_id;
  return (
    <Fieldset legend="When it is open, and what then">
      <Stack>
        <Select
          label="Hours"
          description={
            draft.scheduling_policy_id === null ? (
              'None: always open'
            ) : (
              <Anchor component={Link} href={`/hours/${draft.scheduling_policy_id}`} size="xs">
                Look at these hours
              </Anchor>
            )
          }
          placeholder="Always open"
          searchable
          clearable
          value={draft.scheduling_policy_id}
          error={fault('/scheduling_policy_id')}
          onChange={(scheduling_policy_id) => set({ scheduling_policy_id })}
          data={policies
            .filter(({ site_id }) => site_id === siteId)
            .map(({ id, name }) => ({ value: id, label: name }))}
          nothingFoundMessage="No hours of this site"
        />
        <Select
          label="Fallback queue"
          description="Visitors go there when this one is full, unstaffed or closed"
          placeholder="None"
          searchable
          clearable
          value={kept}
          error={
            circle === null
              ? fault('/fallback_queue_id')
              : `They would go round in a circle: ${circle.map((id) => byId.get(id)?.name ?? '…').join(' → ')}`
          }
          onChange={(fallback_queue_id) => set({ fallback_queue_id })}
          data={[
            ...(kept === null || named.has(kept)
              ? []
              : [{ value: kept, label: byId.get(kept)?.name ?? 'On another site' }]),
            ...fallbacks.map(({ id, name, site_id }) => ({
              value: id,
              label: site_id === siteId ? name : `${name} (${siteNames.get(site_id) ?? ''})`,
            })),
          ]}
          nothingFoundMessage="No other queue"
        />
      </Stack>
    </Fieldset>
  );
}
