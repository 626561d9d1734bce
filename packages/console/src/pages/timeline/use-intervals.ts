import type { PresenceInterval } from '@usher/sdk/api-types';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { maxPageSize } from '@usher/contract/limits';
import { useSession } from '../../session/use-session.ts';

/** A day with more intervals is cut, and the page says so. */
const maxPages = 50;
const refreshMs = 15_000;

interface IntervalsQuery {
  readonly siteIds: readonly string[];
  readonly from: Date;
  readonly to: Date;
}

export interface DayIntervals {
  readonly intervals: readonly PresenceInterval[];
  readonly isCut: boolean;
}

/** The presence intervals of the sites in the range; polled while the range is not over. */
export function useIntervals({ siteIds, from, to }: IntervalsQuery): UseQueryResult<DayIntervals> {
  const { api } = useSession();
  const query = { site_ids: siteIds, from: from.toISOString(), to: to.toISOString(), per_page: maxPageSize };
  return useQuery({
    queryKey: ['GET /operators/presence_intervals', query],
    queryFn: async ({ signal }) => {
      const intervals: PresenceInterval[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < maxPages; page += 1) {
        const pageQuery: typeof query & { readonly cursor?: string } = {
          ...query,
          ...(cursor === null ? {} : { cursor }),
        };
        const answer = await api.call('GET /operators/presence_intervals', { query: pageQuery, signal });
        intervals.push(...answer.presence_intervals);
        if (answer.next_page === null) return { intervals, isCut: false };
        cursor = new URL(answer.next_page).searchParams.get('cursor');
      }
      return { intervals, isCut: true };
    },
    placeholderData: keepPreviousData,
    enabled: siteIds.length > 0,
    // The past does not change.
    refetchInterval: () => (to.getTime() > Date.now() ? refreshMs : false),
  });
}
