import type { Sql } from './database.ts';
import type { ClockReading } from './steady-clock.ts';

/** The row of the table `clock` and the current time, in epoch milliseconds. */
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
  /** The sum of steps before this one. A second process that reports the same step finds a different sum and records nothing. */
  readonly after: number;
  /** How long deletions are suspended; `null` changes nothing. */
  readonly doubtMs: number | null;
}

/** Returns whether this call recorded the step. Of several processes that detect the same step, only the first records it. */
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

/** Stores the current time, unless another process has done so within `apartMs`. */
export async function recordSeen(sql: Sql, apartMs: number): Promise<void> {
  await sql`
    UPDATE clock SET seen_at = clock_timestamp()
     WHERE seen_at < clock_timestamp() - ${apartMs} * interval '1 millisecond'`;
}

/** Suspends deletions if no process has read the clock for `gapMs`. Returns whether this call did so. */
export async function recordDoubt(sql: Sql, gapMs: number, doubtMs: number): Promise<boolean> {
  const rows = await sql`
    UPDATE clock
       SET seen_at = clock_timestamp(), doubt_until = clock_timestamp() + ${doubtMs} * interval '1 millisecond'
     WHERE seen_at < clock_timestamp() - ${gapMs} * interval '1 millisecond'
    RETURNING 1`;
  return rows.length > 0;
}
