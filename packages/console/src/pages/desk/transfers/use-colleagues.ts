import type { Colleague } from '@usher/client/api-types';
import { useRead } from '../../../data/use-api.ts';

/** More than one page is not looked through by anybody. */
const mostColleagues = 1_000;

/** Everybody who works on the sites, there or not: for their names. */
export function useColleagues(siteIds: readonly string[], enabled: boolean): readonly Colleague[] {
  const query = { site_ids: siteIds, include_offline: true, per_page: mostColleagues };
  return useRead('GET /colleagues', { query }, { enabled }).data?.data.colleagues ?? [];
}

/** Nothing tells operators who of the others comes and goes: while somebody is being chosen, it is asked again. */
const askAgainMs = 5_000;

export function useAvailableColleagues(siteIds: readonly string[], enabled: boolean) {
  const query = { site_ids: siteIds, per_page: mostColleagues };
  return useRead('GET /colleagues', { query }, { enabled, refetchInterval: askAgainMs });
}
