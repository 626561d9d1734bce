import type { AuditEntry } from '@usher/sdk/api-types';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../../session/use-session.ts';
import { cursorOf } from './describe.ts';

export interface AuditFilter {
  readonly site_ids?: readonly string[];
  readonly actor_id?: string;
  readonly action?: string;
  readonly target_type?: string;
  readonly target_id?: string;
  readonly since?: string;
  readonly until?: string;
}

const perPage = 50;
/** No event reports changes, so the newest entry is polled, and the rest is read when it is new. */
const pollMs = 3_000;

export interface AuditLog {
  readonly entries: readonly AuditEntry[] | undefined;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
}

export function useAuditLog(filter: AuditFilter, enabled: boolean): AuditLog {
  const { api } = useSession();
  const read = useInfiniteQuery({
    queryKey: ['GET /audit_log', filter, 'all'],
    queryFn: async ({ pageParam, signal }) =>
      api.call('GET /audit_log', {
        query: { ...filter, per_page: perPage, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_page }) => cursorOf(next_page),
    staleTime: 0,
    enabled,
  });
  const newest = useQuery({
    queryKey: ['GET /audit_log', filter, 'newest'],
    queryFn: async ({ signal }) => {
      const { audit_log } = await api.call('GET /audit_log', { query: { ...filter, per_page: 1 }, signal });
      return audit_log[0]?.id ?? null;
    },
    refetchInterval: pollMs,
    enabled,
  });
  const entries = read.data?.pages.flatMap(({ audit_log }) => audit_log);
  const shown = entries?.[0]?.id ?? null;
  const { refetch } = read;
  useEffect(() => {
    if (newest.data !== undefined && entries !== undefined && newest.data !== shown) void refetch();
    // Depends on the newest entry of the server only, not on what was just read.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [newest.data, newest.dataUpdatedAt]);
  return {
    entries,
    error: read.error,
    hasMore: read.hasNextPage,
    isReadingMore: read.isFetchingNextPage,
    readMore: () => {
      if (read.hasNextPage && !read.isFetching) void read.fetchNextPage();
    },
  };
}
