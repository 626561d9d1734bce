import { atLeast, type Role } from '@usher/contract/roles';
import { notFound } from '../platform/errors.ts';
import type { SiteId } from '../platform/ids.ts';
import { roleTooLow } from './access.ts';
import type { OperatorCaller } from './caller.ts';

/**
 * The sites a list is about: those asked for, each of which needs the role; or, with none asked for, every site where
 * the caller has it.
 */
export function requestedSites(
  caller: OperatorCaller,
  asked: readonly SiteId[] | undefined,
  least: Role,
): readonly SiteId[] {
  if (asked === undefined) return [...caller.roles].filter(([, role]) => atLeast(role, least)).map(([site]) => site);
  for (const site of asked) {
    const role = caller.roles.get(site);
    if (role === undefined) throw notFound('site', site);
    if (!atLeast(role, least)) throw roleTooLow(least, role);
  }
  return asked;
}
