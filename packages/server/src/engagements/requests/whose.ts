import type { Caller } from '../../identity/caller.ts';
import { requestedSites } from '../../identity/requested-sites.ts';
import type { OperatorId, SiteId, VisitorId } from '../../platform/ids.ts';

/** Whose requests to list: an operator's on the sites where they have a role, a visitor's, or all requests of sites. */
export type Whose =
  | { readonly operatorId: OperatorId; readonly on: readonly SiteId[] }
  | { readonly visitorId: VisitorId }
  | { readonly siteIds: readonly SiteId[] };

/** The caller's own requests or, with `siteIds`, all requests of these sites, which the caller must manage. */
export function whoseOf(caller: Caller, siteIds: readonly SiteId[] | undefined): Whose {
  if (caller.kind === 'visitor') return { visitorId: caller.visitorId };
  if (caller.kind !== 'operator') throw new Error('the route is for operators and visitors');
  if (siteIds !== undefined) return { siteIds: requestedSites(caller, siteIds, 'manager') };
  return { operatorId: caller.operatorId, on: [...caller.roles.keys()] };
}
