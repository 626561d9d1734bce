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
  /** Nothing is asked for while false. */
  readonly enabled?: boolean;
  /** Whether the former answer stays on the page while another is read. */
  readonly keep?: boolean;
  readonly refetchInterval?: number;
  /** Read again whenever it is opened, however new what is kept of it: for what others change and no event tells of. */
  readonly refetchOnMount?: 'always';
}

/** What names an answer among those that are kept. */
export function keyOf<O extends Operation>(operation: O, request: Request<O>): readonly unknown[] {
  const { path, query } = request as { path?: unknown; query?: unknown };
  return [operation, path ?? null, query ?? null];
}

/** A read of the API, with its ETag. Kept, shared by whoever reads the same, and read anew when `refresh` says so. */
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
  /** Reads that are out of date after it. */
  readonly refresh?: readonly Operation[];
  readonly onDone?: (answered: Answered<O>) => void;
}

/** A change by the API: `mutate(request)`. Its failure is shown by whoever asked for it, see `inWords`. */
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
