import type { Queue } from '@usher/sdk/api-types';
import { useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { Answered } from '@usher/client/api';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { useFeedItems } from '../../live/use-live-feed.ts';

/** Queues that others renamed or added appear with the next refetch. */
const pollMs = 10_000;
const list = 'GET /queues';

interface QueueState extends Partial<Queue> {
  readonly id: string;
  readonly deleted?: true;
}

/** The queues of all visible sites, with live status. */
export function useQueues(): UseQueryResult<Answered<typeof list>> {
  const me = useMe();
  const client = useQueryClient();
  const siteIds = me.sites.map(({ id }) => id);
  const request = { query: { site_ids: siteIds } };
  useFeedItems(['queue.state'], ({ data }) => {
    const state = data as QueueState;
    client.setQueriesData<Answered<typeof list>>({ queryKey: [list] }, (before) => withState(before, state));
    const cached = client.getQueriesData<Answered<typeof list>>({ queryKey: [list] });
    const isCached = cached.some(([, read]) => read?.data.queues.some(({ id }) => id === state.id) === true);
    if (!isCached && state.deleted !== true) void client.invalidateQueries({ queryKey: [list] });
  });
  return useRead(list, request, {
    enabled: siteIds.length > 0,
    keep: true,
    refetchInterval: pollMs,
    refetchOnMount: 'always',
  });
}

function withState(before: Answered<typeof list> | undefined, state: QueueState): typeof before {
  if (before === undefined) return before;
  const { deleted = false, ...fields } = state;
  const queues = deleted
    ? before.data.queues.filter(({ id }) => id !== state.id)
    : before.data.queues.map((queue) => (queue.id === state.id ? { ...queue, ...fields } : queue));
  return { ...before, data: { ...before.data, queues } };
}

/** The visible hours: those of sites where the operator is super_manager. */
export function usePolicies(): UseQueryResult<Answered<'GET /queues/scheduling_policies'>> {
  const me = useMe();
  const siteIds = me.sites.map(({ id }) => id).filter((id) => me.can('super_manager', id));
  return useRead(
    'GET /queues/scheduling_policies',
    { query: { site_ids: siteIds } },
    { enabled: siteIds.length > 0, keep: true, refetchInterval: pollMs, refetchOnMount: 'always' },
  );
}

export type { Queue };
