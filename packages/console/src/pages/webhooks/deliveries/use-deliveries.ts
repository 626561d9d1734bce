import type { Delivery } from '@usher/sdk/api-types';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../../../session/use-session.ts';
import { queryOf, type Filters } from './filter.ts';
import { cursorOf, readPage, type ReadPage } from './read-page.ts';

const pageSize = 30;
/** Poll interval of the current page. */
const pollMs = 2_000;
/** A page that took a long search is polled less often. */
const longSearchPollMs = 15_000;

/** A page of the deliveries of a webhook, from a cursor on, polled. */
export function useDeliveries(
  webhookId: string,
  filters: Filters,
  cursor: string | null,
): UseQueryResult<ReadPage<Delivery>> {
  const { api } = useSession();
  const operation = 'GET /webhooks/{webhook_id}/deliveries';
  return useQuery({
    queryKey: [operation, webhookId, filters, cursor],
    queryFn: async ({ signal }) =>
      readPage(
        async (from, room) => {
          const query = { ...queryOf(filters), per_page: room, ...(from === null ? {} : { cursor: from }) };
          const { deliveries, next_page: next } = await api.call(operation, {
            path: { webhook_id: webhookId },
            query,
            signal,
          });
          return { rows: deliveries, next: cursorOf(next) };
        },
        cursor,
        pageSize,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data?.cutShort === true ? longSearchPollMs : pollMs),
  });
}
