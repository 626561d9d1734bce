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
import { fallbackLoop } from './fallbacks.ts';
import { field, omitEmpty, plainField, parseNumber, type FieldsProps, type NumberDraft } from './fields.ts';
import { formatDuration } from '../../components/time/duration.ts';
import { mediumName } from '../../components/medium.ts';
import { texts } from './texts.ts';
import { usePolicies, useQueues } from './use-queues.ts';

export const routingFields = {
  media: field<readonly Medium[]>({
    label: texts.media,
    initial: [],
    read: ({ routing_policy }) => media.filter((medium) => routing_policy.media?.includes(medium) === true),
    write: (chosen) => ({ routing_policy: chosen.length === 0 ? {} : { media: chosen } }),
    show: (chosen) => (chosen.length === 0 ? texts.allChannels : chosen.join(', ')),
  }),
  team_ids: field<readonly string[]>({
    label: texts.teams,
    initial: [],
    read: ({ routing_policy }) => (routing_policy.team_ids ?? []).toSorted(),
    write: (team_ids) => ({ routing_policy: team_ids.length === 0 ? {} : { team_ids } }),
    show: (ids, names) => (ids.length === 0 ? texts.allTeams : ids.map((id) => names.get(id) ?? id).join(', ')),
  }),
};

export function RoutingFields({ draft, set, fault, siteId }: FieldsProps<typeof routingFields>): ReactElement {
  const teams = useRead(
    'GET /teams',
    { query: { site_ids: [siteId], per_page: maxPageSize } },
    { enabled: siteId !== '' },
  );
  return (
    <Fieldset legend={texts.eligibility}>
      <Stack>
        <Checkbox.Group
          label={texts.media}
          description={texts.leaveEmptyForAllChannels}
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
          label={texts.teams}
          description={texts.teamsHelp}
          searchable
          clearable
          value={[...draft.team_ids]}
          error={fault('/routing_policy/team_ids')}
          onChange={(chosen) => set({ team_ids: chosen.toSorted() })}
          data={(teams.data?.data.teams ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          nothingFoundMessage={texts.noMatchingTeams}
        />
      </Stack>
    </Fieldset>
  );
}

/** The initial value when affinity is turned on. */
const defaultAffinitySec = 3_600;
const maxAffinityDays = maxAffinitySec / 86_400;

export const serviceFields = {
  when_unstaffed: plainField('when_unstaffed', {
    label: texts.whenNoOperatorsOnline,
    initial: 'reject',
    show: (value) => (value === 'accept' ? texts.keepAcceptingVisitorsValue : texts.closeQueueValue),
  }),
  operator_ranking_enabled: plainField('operator_ranking_enabled', {
    label: texts.routeByPriority,
    initial: false,
    show: (value) => (value ? texts.yes : texts.no),
  }),
  /** Seconds; `null` for no affinity. */
  operator_affinity: field<NumberDraft | null>({
    label: texts.preferLastOperator,
    initial: null,
    read: ({ operator_affinity }) => operator_affinity?.time_window_sec ?? null,
    write: (value) => ({ operator_affinity: value === null ? null : omitEmpty('time_window_sec', value) }),
    show: (value) => (value === null || value === '' ? texts.no : formatDuration(value)),
  }),
};

export function ServiceFields({ draft, set, fault }: FieldsProps<typeof serviceFields>): ReactElement {
  const affinity = draft.operator_affinity;
  return (
    <Fieldset legend={texts.routing}>
      <Stack>
        <Radio.Group
          label={texts.whenNoOperatorsOnline}
          value={draft.when_unstaffed}
          onChange={(value) => set({ when_unstaffed: value === 'accept' ? 'accept' : 'reject' })}
        >
          <Group mt="xs">
            <Radio value="reject" label={texts.closeQueue} />
            <Radio value="accept" label={texts.keepAcceptingVisitors} />
          </Group>
        </Radio.Group>
        <Switch
          label={texts.routeByPriority}
          checked={draft.operator_ranking_enabled}
          onChange={(event) => set({ operator_ranking_enabled: event.currentTarget.checked })}
        />
        <Switch
          label={texts.preferLastOperator}
          checked={affinity !== null}
          onChange={(event) => set({ operator_affinity: event.currentTarget.checked ? defaultAffinitySec : null })}
        />
        {affinity === null ? null : (
          <NumberInput
            label={texts.waitForThemSeconds}
            description={
              affinity === ''
                ? texts.daysAtMost(maxAffinityDays)
                : texts.durationAtMost(formatDuration(affinity), maxAffinityDays)
            }
            allowDecimal={false}
            clampBehavior="none"
            maw={260}
            value={affinity}
            error={fault('/operator_affinity')}
            onChange={(value) => set({ operator_affinity: parseNumber(value) })}
          />
        )}
      </Stack>
    </Fieldset>
  );
}

export const linkFields = {
  scheduling_policy_id: plainField('scheduling_policy_id', {
    label: texts.hours,
    initial: null,
    show: (id, names) => (id === null ? texts.alwaysOpenValue : (names.get(id) ?? id)),
  }),
  fallback_queue_id: plainField('fallback_queue_id', {
    label: texts.fallbackQueue,
    initial: null,
    show: (id, names) => (id === null ? texts.noneValue : (names.get(id) ?? id)),
  }),
};

export function LinkFields({ draft, set, fault, siteId, queueId }: FieldsProps<typeof linkFields>): ReactElement {
  const me = useMe();
  const policies = usePolicies().data?.data.scheduling_policies ?? [];
  const queues = useQueues().data?.data.queues ?? [];
  const byId = new Map(queues.map((queue) => [queue.id, queue]));
  const loop = queueId === null ? null : fallbackLoop(queueId, draft.fallback_queue_id, byId);
  const siteNames = new Map(me.sites.map(({ id, name }) => [id, name]));
  const fallbacks = queues.filter(({ id, site_id }) => id !== queueId && me.can('super_manager', site_id));
  const selectable = new Set(fallbacks.map(({ id }) => id));
  const chosenId = draft.fallback_queue_id;
  return (
    <Fieldset legend={texts.hoursAndOverflow}>
      <Stack>
        <Select
          label={texts.hours}
          description={
            draft.scheduling_policy_id === null ? (
              texts.noneAlwaysOpen
            ) : (
              <Anchor component={Link} href={`/hours/${draft.scheduling_policy_id}`} size="xs">
                {texts.viewHours}
              </Anchor>
            )
          }
          placeholder={texts.alwaysOpen}
          searchable
          clearable
          value={draft.scheduling_policy_id}
          error={fault('/scheduling_policy_id')}
          onChange={(scheduling_policy_id) => set({ scheduling_policy_id })}
          data={policies
            .filter(({ site_id }) => site_id === siteId)
            .map(({ id, name }) => ({ value: id, label: name }))}
          nothingFoundMessage={texts.noMatchingHours}
        />
        <Select
          label={texts.fallbackQueue}
          description={texts.fallbackHelp}
          placeholder={texts.none}
          searchable
          clearable
          value={chosenId}
          error={
            loop === null
              ? fault('/fallback_queue_id')
              : texts.fallbackLoop(loop.map((id) => byId.get(id)?.name ?? '…').join(' → '))
          }
          onChange={(fallback_queue_id) => set({ fallback_queue_id })}
          data={[
            ...(chosenId === null || selectable.has(chosenId)
              ? []
              : [{ value: chosenId, label: byId.get(chosenId)?.name ?? texts.onAnotherSite }]),
            ...fallbacks.map(({ id, name, site_id }) => ({
              value: id,
              label: site_id === siteId ? name : `${name} (${siteNames.get(site_id) ?? ''})`,
            })),
          ]}
          nothingFoundMessage={texts.noOtherQueues}
        />
      </Stack>
    </Fieldset>
  );
}
