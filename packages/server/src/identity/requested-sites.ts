import { atLeast, type Role } from '@usher/contract/roles';
import { notFound } from '../platform/errors.ts';
import type { SiteId } from '../platform/ids.ts';
import { roleTooLow } from './access.ts';
import type { OperatorCaller } from './caller.ts';

/**
 * The sites that a list covers: the requested ones, each of which needs the role, or by default every site where the caller
 * has the role.
 */
export function requestedSites(
  caller: OperatorCaller,
  requested: readonly SiteId[] | undefined,
  least: Role,
): readonly SiteId[] {
  if (requested === undefined)
    return [...caller.roles].filter(([, role]) => atLeast(role, least)).map(([site]) => site);
  for (const site of requested) {
    const role = caller.roles.get(site);
    if (role === undefined) throw notFound('site', site);
    if (!atLeast(role, least)) throw roleTooLow(least, role);
  }
  return requested;
}
