import type { Colleague } from '@usher/sdk/api-types';
import { maxPageSize } from '@usher/contract/limits';
import { useRead } from '../../../data/use-api.ts';

/** The operators of the sites, for their names. One page is enough: nobody scrolls through more. */
export function useColleagues(siteIds: readonly string[], enabled: boolean): readonly Colleague[] {
  const query = { site_ids: siteIds, include_offline: true, per_page: maxPageSize };
  return useRead('GET /colleagues', { query }, { enabled }).data?.data.colleagues ?? [];
}

/** Operators receive no events about the availability of others: it is polled while the dialog is open. */
const pollMs = 5_000;

export function useAvailableColleagues(siteIds: readonly string[], enabled: boolean) {
  const query = { site_ids: siteIds, per_page: maxPageSize };
  return useRead('GET /colleagues', { query }, { enabled, refetchInterval: pollMs });
}
