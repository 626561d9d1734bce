import type { Sql } from './database.ts';
import type { ClockReading } from './steady-clock.ts';

/** The row of `clock`, and the clock itself at that moment. Epoch milliseconds. */
export interface StoredClock extends ClockReading {
  readonly seenAt: number;
  readonly doubtUntil: number | null;
}

export async function readClock(sql: Sql): Promise<StoredClock> {
  const [row] = await sql<StoredClock[]>`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at, shift_ms::float8 AS "shiftMs",
           extract(epoch FROM seen_at)::float8 * 1000 AS "seenAt",
           extract(epoch FROM doubt_until)::float8 * 1000 AS "doubtUntil"
      FROM clock
     WHERE only_row`;
  if (row === undefined) throw new Error('the table "clock" has lost its row');
  return row;
}

interface Step {
  readonly stepMs: number;
  /** The sum of steps before this one. A second process that reports the same step finds another sum and records nothing. */
  readonly after: number;
  /** For how long nothing is deleted; `null`: no longer than before. */
  readonly doubtMs: number | null;
}

/** Whether this call recorded the step. Of several processes that see the same one, the first does. */
export async function recordStep(sql: Sql, { stepMs, after, doubtMs }: Step): Promise<boolean> {
  const rows = await sql`
    UPDATE clock
       SET shift_ms = shift_ms + ${stepMs}, seen_at = clock_timestamp(),
           doubt_until = coalesce(clock_timestamp() + ${doubtMs}::float8 * interval '1 millisecond',
                                  doubt_until + ${stepMs} * interval '1 millisecond')
     WHERE shift_ms = ${after}
    RETURNING 1`;
  return rows.length > 0;
}

/** Not while another process has just done so. */
export async function recordSeen(sql: Sql, apartMs: number): Promise<void> {
  await sql`
    UPDATE clock SET seen_at = clock_timestamp()
     WHERE seen_at < clock_timestamp() - ${apartMs} * interval '1 millisecond'`;
}

/** Whether this call began it: nobody had looked at the clock for `gapMs`. */
export async function recordDoubt(sql: Sql, gapMs: number, doubtMs: number): Promise<boolean> {
  const rows = await sql`
    UPDATE clock
       SET seen_at = clock_timestamp(), doubt_until = clock_timestamp() + ${doubtMs} * interval '1 millisecond'
     WHERE seen_at < clock_timestamp() - ${gapMs} * interval '1 millisecond'
    RETURNING 1`;
  return rows.length > 0;
}
