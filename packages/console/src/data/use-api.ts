import type { Answered, Operation, Request } from '@usher/client/api';
import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useSession } from '../session/use-session.ts';

interface ReadOptions {
  /** While false, nothing is requested. */
  readonly enabled?: boolean;
  /** Whether the previous data stays on the page while new data loads. */
  readonly keep?: boolean;
  readonly refetchInterval?: number;
  /** Refetches on every mount, even if the cache is fresh: for data that others change without an event. */
  readonly refetchOnMount?: 'always';
}

/** The cache key of a request. */
export function keyOf<O extends Operation>(operation: O, request: Request<O>): readonly unknown[] {
  const { path, query } = request as { path?: unknown; query?: unknown };
  return [operation, path ?? null, query ?? null];
}

/**
 * Reads from the API, with the ETag. The result is cached, shared by all components that read the same, and refetched on
 * `refresh`.
 */
export function useRead<O extends Operation>(
  operation: O,
  request: Request<O>,
  options: ReadOptions = {},
): UseQueryResult<Answered<O>> {
  const { api } = useSession();
  const { keep = false, ...rest } = options;
  return useQuery({
    queryKey: keyOf(operation, request),
    queryFn: async ({ signal }) => api.ask(operation, { ...request, signal }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...rest,
  });
}

interface ChangeOptions<O extends Operation> {
  /** Reads that are stale after the change. */
  readonly refresh?: readonly Operation[];
  readonly onDone?: (answered: Answered<O>) => void;
}

/** A change through the API: `mutate(request)`. The caller shows the failure, see `describeError`. */
export function useChange<O extends Operation>(
  operation: O,
  { refresh = [], onDone }: ChangeOptions<O> = {},
): UseMutationResult<Answered<O>, Error, Request<O>> {
  const { api } = useSession();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (request: Request<O>) => api.ask(operation, request),
    onSuccess: async (answered) => {
      onDone?.(answered);
      await Promise.all(refresh.map(async (read) => client.invalidateQueries({ queryKey: [read] })));
    },
  });
}
