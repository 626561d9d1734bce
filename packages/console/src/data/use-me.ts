import type { Operator, Site } from '@usher/client/api-types';
import { atLeast, type Role } from '@usher/contract/roles';
import { createContext, use } from 'react';


/** Whoever is signed in, and where they may do what. */
export interface Me {
  readonly operator: Operator;
  readonly sites: readonly Site[];
  /** The role on each site. */
  readonly roles: Readonly<Record<string, Role>>;
  /** The site that was chosen in the header; `null` for all of them. */
  readonly siteId: string | null;
  /** The chosen one, or all. */
  readonly siteIds: readonly string[];
  readonly chooseSite: (siteId: string | null) => void;
  /** Whether they have at least this role on the site, or without one on any. */
  readonly can: (role: Role, siteId?: string) => boolean;
}

export const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = use(MeContext);
  if (me === null) throw new Error('nobody is signed in around this component');
  return me;
}

export function hasRole(roles: Readonly<Record<string, Role>>, least: Role, siteId?: string): boolean {
  const held = siteId === undefined ? Object.values(roles) : [roles[siteId]];
  return held.some((role) => role !== undefined && atLeast(role, least));
}
