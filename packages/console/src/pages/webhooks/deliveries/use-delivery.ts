import type { Answered } from '@usher/client/api';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keyOf } from '../../../data/use-api.ts';
import { useSession } from '../../../session/use-session.ts';
import { isFinal } from '../labels.ts';

/** Poll intervals: a final delivery can still be replayed by somebody else. */
const pendingPollMs = 1_000;
const finalPollMs = 5_000;

/** One delivery, polled. */
export function useDelivery(id: string): UseQueryResult<Answered<'GET /deliveries/{delivery_id}'>> {
  const { api } = useSession();
  const request = { path: { delivery_id: id } };
  return useQuery({
    queryKey: keyOf('GET /deliveries/{delivery_id}', request),
    queryFn: async ({ signal }) => api.ask('GET /deliveries/{delivery_id}', { ...request, signal }),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || !isFinal(data.data.state) ? pendingPollMs : finalPollMs,
  });
}
