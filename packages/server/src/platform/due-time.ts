import type { Piece, Sql } from './database.ts';

/** Clocks of processes and statements that take their time may differ by so much. */
const marginSec = 5;

/**
 * That a due time, or the end of a lease, has come. One that is further ahead than any can be was written before the clock was
 * set back, or by a process that was killed while the clock was wrong: nobody would ever see to it, so it has come as well.
 * Only `infinity` never comes; Usher does not write it.
 */
export function hasCome(sql: Sql, time: Piece, longestSec: number): Piece {
  return sql`(${time} <= now() OR (${time} > now() + make_interval(secs => ${longestSec + marginSec}) AND ${time} < 'infinity'))`;
}
