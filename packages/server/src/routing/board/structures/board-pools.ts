import type { SiteId, TeamId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import type { Pool, Queue } from './state.ts';
import { belongs, countStaff, isIdlePool, newPool, poolKey } from './pools.ts';

/** Pools without queue or ticket are kept up to here: the next ticket may narrow to the same teams again. */
const mostPools = 2_000;

/** The pool of those operators, made where there is none. */
export function getOrAddPool(board: Board, siteId: SiteId, teams: readonly TeamId[], narrowedTo: readonly TeamId[]): Pool {
  const known = board.pools.get(poolKey(siteId, teams, narrowedTo));
  if (known !== undefined) return known;
  if (board.pools.size >= mostPools) dropIdlePools(board);
  const pool = newPool(siteId, teams, narrowedTo);
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

/** Who may serve a ticket in the queue that is narrowed to these teams. */
export function poolForTicket(
  board: Board,
  { pool, settings: { siteId, teams } }: Queue,
  narrowedTo: readonly TeamId[],
): Pool {
  return narrowedTo.length === 0 ? pool : getOrAddPool(board, siteId, teams, narrowedTo);
}
