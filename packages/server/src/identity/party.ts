import type { OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import type { Caller } from './caller.ts';

/**
 * The side of an engagement, a request or a transfer that the caller is. An operator's token may be limited to some sites; with it, they
 * are not a party on other sites.
 */
export type Party =
  | { readonly kind: 'operator'; readonly id: OperatorId; readonly onlyOn?: ReadonlySet<SiteId> }
  | { readonly kind: 'visitor'; readonly id: VisitorId };

/** Which side the caller is. Only for routes that operators and visitors call. */
export function partyOf(caller: Caller): Party {
  if (caller.kind === 'operator') {
    const { operatorId: id, limited, roles } = caller;
    return limited ? { kind: 'operator', id, onlyOn: new Set(roles.keys()) } : { kind: 'operator', id };
  }
  if (caller.kind === 'visitor') return { kind: 'visitor', id: caller.visitorId };
  throw new Error('the route is for operators and visitors');
}

interface Sides {
  readonly visitorId: string;
  readonly operatorId: string;
  readonly siteId: SiteId;
}

/** Whether the caller is this visitor, or is this operator and has a role on the site now. */
export function isSide(caller: Caller, { visitorId, operatorId, siteId }: Sides): boolean {
  if (caller.kind === 'operator') return caller.operatorId === operatorId && caller.roles.has(siteId);
  return caller.kind === 'visitor' && caller.visitorId === visitorId;
}
