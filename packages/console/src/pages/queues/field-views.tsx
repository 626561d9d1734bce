import { maxPageSize } from '@usher/contract/limits';
import type { FieldViews } from '../../components/conflict.tsx';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import type { QueueDraft } from './draft.ts';
import { inUnits } from '../../components/duration.ts';
import { usePolicies, useQueues } from './use-queues.ts';

/** How the fields of a queue are shown where two versions of them stand side by side. */
export function useFieldViews(): FieldViews<QueueDraft> {
  const me = useMe();
  const names = (rows: readonly { id: string; name: string }[] | undefined): Map<string, string> =>
    new Map(rows?.map(({ id, name }) => [id, name]));
  const queues = names(useQueues().data?.data.queues);
  const policies = names(usePolicies().data?.data.scheduling_policies);
  const query = { site_ids: me.sites.map(({ id }) => id), per_page: maxPageSize };
  const teams = names(useRead('GET /teams', { query }, { enabled: me.can('manager') }).data?.data.teams);
  const text = (value: string): string => (value === '' ? 'nothing' : value);
  const yes = (value: boolean): string => (value ? 'yes' : 'no');
  return {
    name: { label: 'Name', show: text },
    description: { label: 'Description', show: text },
    capacity_policy: {
      label: 'Capacity',
      show: ({ type, capacity, multiplier }) => (type === 'fixed' ? `${capacity}` : `${multiplier} for each operator`),
    },
    media: { label: 'Media', show: (media) => (media.length === 0 ? 'every medium' : media.join(', ')) },
    team_ids: {
      label: 'Teams',
      show: (ids) => (ids.length === 0 ? 'everybody' : ids.map((id) => teams.get(id) ?? id).join(', ')),
    },
    when_unstaffed: {
      label: 'When nobody staffs it',
      show: (value) => (value === 'accept' ? 'let them wait' : 'let nobody in'),
    },
    operator_ranking_enabled: { label: 'Chosen by rank', show: yes },
    welcome_message: { label: 'Welcome message', show: text },
    scheduling_policy_id: {
      label: 'Hours',
      show: (id) => (id === null ? 'always open' : (policies.get(id) ?? id)),
    },
    fallback_queue_id: { label: 'Fallback queue', show: (id) => (id === null ? 'none' : (queues.get(id) ?? id)) },
    operator_affinity: {
      label: 'Wait for the last operator',
      show: (value) => (value === null || value === '' ? 'no' : inUnits(value)),
    },
  };
}
