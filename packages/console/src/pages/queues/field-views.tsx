import { maxPageSize } from '@usher/contract/limits';
import type { FieldViews } from '../../components/editing/conflict.tsx';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { fieldViews, type QueueDraft } from './draft.ts';
import { usePolicies, useQueues } from './use-queues.ts';

/** How the fields of a queue are shown when two versions are compared. */
export function useFieldViews(): FieldViews<QueueDraft> {
  const me = useMe();
  const query = { site_ids: me.sites.map(({ id }) => id), per_page: maxPageSize };
  const teams = useRead('GET /teams', { query }, { enabled: me.can('manager') }).data?.data.teams ?? [];
  const queues = useQueues().data?.data.queues ?? [];
  const policies = usePolicies().data?.data.scheduling_policies ?? [];
  return fieldViews(new Map([...teams, ...queues, ...policies].map(({ id, name }) => [id, name])));
}
