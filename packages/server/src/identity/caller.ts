import { atLeast, type Role } from '@usher/contract/roles';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';

/** Anybody can copy a publishable token from a page; the customer's own servers keep a secret token. */
export type Trust = 'secret' | 'publishable';

/** Who sent the request. `key` identifies the caller in logs, rate limits and idempotency keys. */
export type Caller =
  | { readonly kind: 'anonymous'; readonly key: 'anonymous' }
  | OperatorCaller
  | {
      readonly kind: 'visitor';
      readonly key: string;
      readonly accountId: AccountId;
      readonly visitorId: VisitorId;
      /** The site the visitor is on now. */
      readonly siteId: SiteId;
      /** The kind of application token that the visitor was created with; `secret` if an operator created the visitor. */
      readonly trust: Trust;
    }
  | {
      readonly kind: 'application';
      readonly key: string;
      readonly accountId: AccountId;
      readonly applicationTokenId: string;
      readonly siteId: SiteId;
      readonly trust: Trust;
    };

export interface OperatorCaller {
  readonly kind: 'operator';
  readonly key: string;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  /** Whether a simulated operator of the sample data sent the request. No person has such a token. */
  readonly isMadeUp: boolean;
  /** Whether the token is limited to some of the operator's sites. */
  readonly limited: boolean;
  /** The operator's role on each site that this token reaches. */
  readonly roles: ReadonlyMap<SiteId, Role>;
  /** `via` in the audit log: the id of the API key or session that the token was obtained with, or of the access token itself. */
  readonly credentialId: string;
  readonly token: OperatorToken;
  /** The session that the token was obtained with; `null` if it was obtained without one. */
  readonly sessionId: string | null;
}

type OperatorToken =
  | { readonly kind: 'signed'; readonly id: string; readonly expiresAt: Date }
  /** An access token, which is stored in the database. With `expiresAt: null` it does not expire. */
  | { readonly kind: 'long-lived'; readonly id: string; readonly expiresAt: Date | null };

export const anonymous: Caller = { kind: 'anonymous', key: 'anonymous' };

/** Whether the caller uses a publishable token, directly or as a visitor. Limits per address apply to such callers. */
export function isFromPage(caller: Caller): boolean {
  return (caller.kind === 'visitor' || caller.kind === 'application') && caller.trust === 'publishable';
}

/** Whether the caller has at least this role on any site. */
export function hasRoleAnywhere(caller: OperatorCaller, least: Role): boolean {
  return caller.roles.values().some((role) => atLeast(role, least));
}
