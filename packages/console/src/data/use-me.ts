import type { Operator, Site } from '@usher/sdk/api-types';
import { atLeast, type Role } from '@usher/contract/roles';
import { createContext, use } from 'react';


/** The signed-in operator and their permissions. */
export interface Me {
  readonly operator: Operator;
  readonly sites: readonly Site[];
  /** The role on each site. */
  readonly roles: Readonly<Record<string, Role>>;
  /** The site chosen in the header; `null` for all sites. */
  readonly siteId: string | null;
  /** The chosen site, or all sites. */
  readonly siteIds: readonly string[];
  readonly chooseSite: (siteId: string | null) => void;
  /** Whether the operator has at least this role on the site, or on any site if none is given. */
  readonly can: (role: Role, siteId?: string) => boolean;
}

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = use(MeContext);
  if (me === null) throw new Error('useMe needs a MeContext: no operator is signed in');
  return me;
}

export function hasRole(roles: Readonly<Record<string, Role>>, least: Role, siteId?: string): boolean {
  const matching = siteId === undefined ? Object.values(roles) : [roles[siteId]];
  return matching.some((role) => role !== undefined && atLeast(role, least));
}
