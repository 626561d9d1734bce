import { atLeast, type Role } from '@usher/contract/roles';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';

/** A publishable token can be copied from a page by anybody; a secret one is kept by the customer's own servers. */
export type Trust = 'secret' | 'publishable';

/** Whose request this is. `key` stands for the caller in logs, limits and idempotency keys. */
export type Caller =
  | { readonly kind: 'nobody'; readonly key: 'nobody' }
  | OperatorCaller
  | {
      readonly kind: 'visitor';
      readonly key: string;
      readonly accountId: AccountId;
      readonly visitorId: VisitorId;
      /** The site the visitor is on now. */
      readonly siteId: SiteId;
      /** The kind of application token behind the visitor's token; what an operator made counts as secret. */
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
  /** One of the made-up operators of sample data, acting by itself: no person has a token that says so. */
  readonly isMadeUp: boolean;
  /** Whether the token was obtained for some of the operator's sites only. */
  readonly limited: boolean;
  /** The sites this token reaches, and the operator's role on each. */
  readonly roles: ReadonlyMap<SiteId, Role>;
  /** What the audit log names: the API key or session that the token was obtained with, or the long-lived token itself. */
  readonly keyId: string;
  readonly token: OperatorToken;
  /** The session the token was obtained through; `null`: through none. */
  readonly sessionId: string | null;
}

type OperatorToken =
  | { readonly kind: 'signed'; readonly id: string; readonly expiresAt: Date }
  /** One that has a row of its own. `null`: it does not expire. */
  | { readonly kind: 'long-lived'; readonly id: string; readonly expiresAt: Date | null };

export const nobody: Caller = { kind: 'nobody', key: 'nobody' };

/** Whether the caller got in by a publishable token: then limits per address hold. */
export function isFromPage(caller: Caller): boolean {
  return (caller.kind === 'visitor' || caller.kind === 'application') && caller.trust === 'publishable';
}

/** Whether the caller has at least that role on some site. */
export function hasRoleAnywhere(caller: OperatorCaller, least: Role): boolean {
  return caller.roles.values().some((role) => atLeast(role, least));
}
