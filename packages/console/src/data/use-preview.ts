import type { Answer, Operation, Request } from '@usher/client/api';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';

/** So long after the last key a draft is looked at. */
const settleMs = 300;

/** What the server says of a draft, while it is written. The former answer stays until the next has come. */
export function usePreview<O extends Operation>(
  operation: O,
  request: Request<O>,
  enabled = true,
): UseQueryResult<Answer<O>> {
  const { api } = useSession();
  const [settled] = useDebouncedValue(JSON.stringify(request), settleMs);
  return useQuery({
    queryKey: [operation, settled],
    queryFn: async ({ signal }) => api.call(operation, { ...(JSON.parse(settled) as Request<O>), signal }),
    placeholderData: keepPreviousData,
    enabled,
    gcTime: 0,
  });
}
