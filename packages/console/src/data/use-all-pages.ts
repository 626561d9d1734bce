import type { Answer, Operation, Request } from '@usher/client/api';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';
import { keyOf } from './use-api.ts';

const perPage = 100;
/** A longer list is cut, so that a page can still show it. */
const maxPages = 50;

/** Operations with numbered pages: operators, teams, SIP domains. */
interface Paged {
  readonly next_page: string | null;
}

type PagedOperation = { [O in Operation]: Answer<O> extends Paged ? O : never }[Operation];

/** Reads all pages of a list and joins them with `take`. */
export function useAllPages<O extends PagedOperation, Row>(
  operation: O,
  request: Request<O>,
  take: (answer: Answer<O>) => readonly Row[],
  options: { readonly refetchInterval?: number; readonly enabled?: boolean } = {},
): UseQueryResult<readonly Row[]> {
  const { api } = useSession();
  return useQuery({
    queryKey: [...keyOf(operation, request), 'every'],
    queryFn: async ({ signal }) => {
      const rows: Row[] = [];
      for (let page = 1; page <= maxPages; page += 1) {
        const { query = {} } = request as { query?: object };
        const pageRequest = { ...request, query: { ...query, page, per_page: perPage }, signal } as Request<O>;
        const answer = await api.call(operation, pageRequest);
        rows.push(...take(answer));
        if ((answer as Paged).next_page === null) break;
      }
      return rows;
    },
    ...options,
  });
}
