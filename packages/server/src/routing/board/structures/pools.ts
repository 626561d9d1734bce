import type { Medium } from '@usher/contract/media';
import type { SiteId, TeamId } from '../../../platform/ids.ts';
import { compareOperators, FreeOperatorSets } from './free-operators.ts';
import { mediaSets, setOf, type MediaSet } from './media.ts';
import type { Operator, OperatorSettings, Pool } from './state.ts';
import { WaitingTickets } from './waiting-tickets.ts';

export function poolKey(siteId: SiteId, teams: readonly TeamId[], requiredTeams: readonly TeamId[]): string {
  return `${siteId} ${[...teams].toSorted().join()} ${[...requiredTeams].toSorted().join()}`;
}

export function newPool(siteId: SiteId, teams: readonly TeamId[], requiredTeams: readonly TeamId[]): Pool {
  return {
    key: poolKey(siteId, teams, requiredTeams),
    siteId,
    teams,
    requiredTeams,
    queues: new Set(),
    entryCount: 0,
    staff: Array.from({ length: mediaSets }, () => 0),
    staffTaking: Array.from({ length: mediaSets }, () => 0),
    free: new FreeOperatorSets(compareOperators),
    waiting: new WaitingTickets(),
  };
}

/** Whether the operator belongs to the pool, present or not. */
export function belongs(pool: Pool, { sites }: OperatorSettings): boolean {
  const teams = sites.get(pool.siteId);
  if (teams === undefined) return false;
  const isIn = (allowed: readonly TeamId[]): boolean => allowed.length === 0 || allowed.some((team) => teams.has(team));
  return isIn(pool.teams) && isIn(pool.requiredTeams);
}

/** The number of present operators who take at least one of the media (D2.1). */
export function staffOf(pool: Pool, media: MediaSet): number {
  return pool.staffTaking[media] ?? 0;
}

/** The number of present operators who take the medium. */
export function staffFor(pool: Pool, medium: Medium): number {
  return staffOf(pool, setOf(medium));
}

/** Adds a present operator to the staff counts, or removes them. */
export function countStaff({ staff, staffTaking }: Pool, operator: Operator, by: 1 | -1): void {
  const taken = operator.settings.media;
  staff[taken] = (staff[taken] ?? 0) + by;
  for (let set = 1; set < mediaSets; set += 1) if ((set & taken) !== 0) staffTaking[set] = (staffTaking[set] ?? 0) + by;
}

export function isIdlePool(pool: Pool): boolean {
  return pool.queues.size === 0 && pool.entryCount === 0;
}
