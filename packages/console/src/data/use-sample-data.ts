import type { SampleData } from '@usher/client/api-types';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/use-session.ts';
import { useRead } from './use-api.ts';

type Asked = 'make' | 'start' | 'stop' | 'remove';

/** Deleting takes a while, and others may change the state, too: poll at this interval. */
const lookMs = { removing: 1_000, otherwise: 10_000 } as const;

interface SampleDataUse {
  readonly state: SampleData['state'] | undefined;
  readonly siteId: string | null;
  readonly error: Error | null;
  readonly change: UseMutationResult<SampleData, Error, Asked>;
}

/** Whether there is sample data, and the actions on it. Every cached read is refetched when sample data appears or disappears. */
export function useSampleData(enabled: boolean): SampleDataUse {
  const { api } = useSession();
  const client = useQueryClient();
  const look = useRead('GET /sample_data', {}, { enabled });
  const state = look.data?.data.state;
  const { refetch } = look;
  useEffect(() => {
    if (!enabled) return undefined;
    const timer = setInterval(() => void refetch(), state === 'removing' ? lookMs.removing : lookMs.otherwise);
    return () => clearInterval(timer);
  }, [enabled, state, refetch]);
  const before = useRef(state);
  useEffect(() => {
    const changed = before.current !== undefined && before.current !== state;
    before.current = state;
    // A site was added or removed, so any cached read may be stale.
    if (changed) void client.invalidateQueries();
  }, [state, client]);
  const change = useMutation({
    mutationFn: async (asked: Asked) => {
      if (asked === 'make') return api.call('POST /sample_data', {});
      if (asked === 'remove') return api.call('DELETE /sample_data', {});
      return api.call('PATCH /sample_data', { body: { action: asked } });
    },
    onSuccess: async () => client.invalidateQueries(),
  });
  return { state, siteId: look.data?.data.site_id ?? null, error: look.error, change };
}
