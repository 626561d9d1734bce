import type { SqlFragment, Sql } from '../database/database.ts';

/** Tolerance for differing clocks of processes and for slow statements. */
const marginSec = 5;

/**
 * SQL condition: a due time or the end of a lease has come. A time further ahead than `longestSec` was written before the clock
 * was set back, or by a process that was killed while the clock was wrong. Such work would never run, so it counts as due too.
 * Only `infinity` never comes; Usher does not write it.
 */
export function hasCome(sql: Sql, time: SqlFragment, longestSec: number): SqlFragment {
  return sql`(${time} <= now() OR (${time} > now() + make_interval(secs => ${longestSec + marginSec}) AND ${time} < 'infinity'))`;
}
