import type { Colleague } from '@usher/client/api-types';
import { maxPageSize } from '@usher/contract/limits';
import { useRead } from '../../../data/use-api.ts';

/** Everybody who works on the sites, there or not: for their names. Nobody looks through more than one page. */
export function useColleagues(siteIds: readonly string[], enabled: boolean): readonly Colleague[] {
  const query = { site_ids: siteIds, include_offline: true, per_page: maxPageSize };
  return useRead('GET /colleagues', { query }, { enabled }).data?.data.colleagues ?? [];
}

/** Nothing tells operators who of the others comes and goes: while somebody is being chosen, it is asked again. */
const askAgainMs = 5_000;

export function useAvailableColleagues(siteIds: readonly string[], enabled: boolean) {
  const query = { site_ids: siteIds, per_page: maxPageSize };
  return useRead('GET /colleagues', { query }, { enabled, refetchInterval: askAgainMs });
}
