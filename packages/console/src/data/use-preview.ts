import type { Answer, Operation, Request } from '@usher/client/api';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';

/** Debounce: a draft is previewed this long after the last key press. */
const debounceMs = 300;

/** Previews a draft while it is typed. The previous result stays until the next one arrives. */
export function usePreview<O extends Operation>(
  operation: O,
  request: Request<O>,
  enabled = true,
): UseQueryResult<Answer<O>> {
  const { api } = useSession();
  const [debounced] = useDebouncedValue(JSON.stringify(request), debounceMs);
  return useQuery({
    queryKey: [operation, debounced],
    queryFn: async ({ signal }) => api.call(operation, { ...(JSON.parse(debounced) as Request<O>), signal }),
    placeholderData: keepPreviousData,
    enabled,
    gcTime: 0,
  });
}
