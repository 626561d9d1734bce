import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';

type Names = readonly (readonly [id: string, name: string])[];

/** There may be many queues and their names rarely change, so the names are read once, and again when a queue is missing. */
export function useQueueName(siteId: string, queueId: string | null): string | undefined {
  const { api } = useSession();
  const { data } = useQuery<Names>({
    queryKey: ['queue names', siteId],
    queryFn: async () => {
      const { queues } = await api.call('GET /queues', { query: { site_ids: [siteId] } });
      return queues.map(({ id, name }) => [id, name] as const);
    },
    staleTime: ({ state }) => (state.data?.some(([id]) => id === queueId) === true ? Infinity : 0),
    enabled: queueId !== null,
  });
  return data?.find(([id]) => id === queueId)?.[1];
}
