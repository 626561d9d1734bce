import type { SiteId, TeamId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import type { Pool, Queue } from './state.ts';
import { belongs, countStaff, isIdlePool, newPool, poolKey } from './pools.ts';

/** Idle pools are kept up to this number, because the next ticket may name the same teams. */
const maxPools = 2_000;

/** Returns the pool of these teams, and creates it if there is none. */
export function getOrAddPool(
  board: Board,
  siteId: SiteId,
  teams: readonly TeamId[],
  requiredTeams: readonly TeamId[],
): Pool {
  const known = board.pools.get(poolKey(siteId, teams, requiredTeams));
  if (known !== undefined) return known;
  if (board.pools.size >= maxPools) dropIdlePools(board);
  const pool = newPool(siteId, teams, requiredTeams);
  board.pools.set(pool.key, pool);
  for (const operator of board.operators.values()) {
    if (!belongs(pool, operator.settings)) continue;
    operator.pools.push(pool);
    if (operator.present) countStaff(pool, operator, 1);
    if (operator.free) pool.free.add(operator);
  }
  return pool;
}

function dropIdlePools(board: Board): void {
  for (const pool of board.pools.values()) if (isIdlePool(pool)) board.pools.delete(pool.key);
  for (const operator of board.operators.values())
    operator.pools = operator.pools.filter((pool) => board.pools.has(pool.key));
}

/** The operators who may serve a ticket in the queue, if the ticket is narrowed to these teams. */
export function poolForTicket(
  board: Board,
  { pool, settings: { siteId, teams } }: Queue,
  requiredTeams: readonly TeamId[],
): Pool {
  return requiredTeams.length === 0 ? pool : getOrAddPool(board, siteId, teams, requiredTeams);
}
