import { atLeast } from '@usher/contract/roles';
import type { ReceivedSignal } from '../engagements/signals/pieces.ts';
import type { About } from '../events/append.ts';
import type { Caller } from '../identity/caller.ts';
import { isForVisitors } from './catalogue.ts';

/**
 * Who may see what, as keys: a caller holds some, an item opens to some, and one that both have is enough. So the rule is in
 * two functions, and whoever delivers an item finds its readers without asking each.
 */
export type Key = string;

const visitorKey = (visitor: string): Key => `visitor ${visitor}`;
const operatorKey = (operator: string, site: string): Key => `operator ${operator} on ${site}`;
const managerKey = (site: string): Key => `manager on ${site}`;
const siteKey = (site: string, kind: 'visitor' | 'operator'): Key => `${kind}s on ${site}`;

/** Operators see what is theirs on the sites their token reaches, managers all of the site, visitors what is theirs. */
export function keysOf(caller: Caller): readonly Key[] {
  if (caller.kind === 'visitor') return [visitorKey(caller.visitorId), siteKey(caller.siteId, 'visitor')];
  if (caller.kind !== 'operator') return [];
  return Array.from(caller.roles, ([site, role]) => [
    operatorKey(caller.operatorId, site),
    siteKey(site, 'operator'),
    ...(atLeast(role, 'manager') ? [managerKey(site)] : []),
  ]).flat();
}

/** Something about a visitor and an operator on a site. */
export function opensTo(type: string, { siteId, visitorId, operatorId }: About): Key[] {
  const keys: Key[] = [];
  if (typeof visitorId === 'string' && isForVisitors(type)) keys.push(visitorKey(visitorId));
  if (typeof siteId !== 'string') return keys;
  if (typeof operatorId === 'string') keys.push(operatorKey(operatorId, siteId));
  keys.push(managerKey(siteId));
  return keys;
}

/** One side of an engagement, and nobody else. */
export function opensToSide({ kind, id, siteId }: ReceivedSignal['to']): Key[] {
  return [kind === 'visitor' ? visitorKey(id) : operatorKey(id, siteId)];
}

/** An engagement that passes on is news to the operator who had it, too. */
export function opensToPrevious(payload: unknown): Key[] {
  const { engagement } = payload as {
    engagement?: { previous_sub_engagement?: { operator_id: string; site_id: string } };
  };
  const previous = engagement?.previous_sub_engagement;
  if (previous === undefined) return [];
  return [operatorKey(previous.operator_id, previous.site_id), managerKey(previous.site_id)];
}

/** Everybody of a kind who is on the site. */
export function opensToAll(siteId: string, kind: 'visitor' | 'operator'): Key[] {
  return [siteKey(siteId, kind)];
}

/** An operator, on all its sites, and those who manage there. */
export function opensToColleagues(operatorId: string, siteIds: readonly string[]): Key[] {
  return siteIds.flatMap((site) => [operatorKey(operatorId, site), managerKey(site)]);
}
