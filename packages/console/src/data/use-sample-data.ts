import type { SampleData } from '@usher/sdk/api-types';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/use-session.ts';
import { useRead } from './use-api.ts';

type SampleDataAction = 'make' | 'start' | 'stop' | 'remove';

/** Deleting takes a while, and others may change the state, too: poll at this interval. */
const pollMs = { removing: 1_000, otherwise: 10_000 } as const;

interface SampleDataControl {
  readonly state: SampleData['state'] | undefined;
  readonly siteId: string | null;
  readonly error: Error | null;
  readonly change: UseMutationResult<SampleData, Error, SampleDataAction>;
}

/** Whether there is sample data, and the actions on it. Every cached read is refetched when sample data appears or disappears. */
export function useSampleData(enabled: boolean): SampleDataControl {
  const { api } = useSession();
  const client = useQueryClient();
  const query = useRead('GET /sample_data', {}, { enabled });
  const state = query.data?.data.state;
  const { refetch } = query;
  useEffect(() => {
    if (!enabled) return undefined;
    const timer = setInterval(() => void refetch(), state === 'removing' ? pollMs.removing : pollMs.otherwise);
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
    mutationFn: async (action: SampleDataAction) => {
      if (action === 'make') return api.call('POST /sample_data', {});
      if (action === 'remove') return api.call('DELETE /sample_data', {});
      return api.call('PATCH /sample_data', { body: { action } });
    },
    onSuccess: async () => client.invalidateQueries(),
  });
  return { state, siteId: query.data?.data.site_id ?? null, error: query.error, change };
}
