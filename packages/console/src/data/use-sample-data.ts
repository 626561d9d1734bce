import type { SampleData } from '@usher/client/api-types';
import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSession } from '../session/use-session.ts';
import { useRead } from './use-api.ts';

type Asked = 'make' | 'start' | 'stop' | 'remove';

/** Removing takes a moment: so often it is looked whether it is done. Others may change it too. */
const lookMs = { removing: 1_000, otherwise: 10_000 } as const;

interface SampleDataUse {
  readonly state: SampleData['state'] | undefined;
  readonly siteId: string | null;
  readonly error: Error | null;
  readonly change: UseMutationResult<SampleData, Error, Asked>;
}

/** Whether there is sample data, and what can be done about it. Everything on the page is read anew as it comes or goes. */
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
    // It has brought a site with it, or taken one away: nothing that was read before is sure to be true.
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
