import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';

/** Queues may be many, and their names seldom change: read once. */
export function useQueueNames(siteId: string, enabled: boolean): ReadonlyMap<string, string> {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['queue names', siteId],
    queryFn: async () => {
      const { queues } = await api.call('GET /queues', { query: { site_ids: [siteId] } });
      return queues.map(({ id, name }) => [id, name] as const);
    },
    staleTime: Infinity,
    enabled,
  });
  return new Map(data);
}
