import type { Sql } from '../database/database.ts';
import type { ClockReading } from './steady-clock.ts';

/**
 * After this time without a process that reached the database, the service was out. Live processes store `seen_at` more often, so they
 * leave a margin of more than a second for a slow statement.
 */
const outageFromMs = 4_000;
/** Nobody waits through a longer outage: then everything ends whose time is over. */
export const longestOutageMs = 3_600_000;

/** The row of the table `clock` and the current time, in epoch milliseconds. */
export interface StoredClock extends ClockReading {
  /** When a process last reached the database. */
  readonly seenAt: number;
  /** The sum of all recorded outages. */
  readonly outageMs: number;
  readonly doubtUntil: number | null;
}

export async function readClock(sql: Sql): Promise<StoredClock> {
  const [row] = await sql<StoredClock[]>`
    SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at, shift_ms::float8 AS "shiftMs",
           extract(epoch FROM seen_at)::float8 * 1000 AS "seenAt", outage_ms::float8 AS "outageMs",
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

/**
 * Returns whether this call recorded the step. Of several processes that detect the same step, only the first records it. The time
 * since `seen_at` stays the same, so a step during an outage is not counted as a part of the outage.
 */
export async function recordStep(sql: Sql, { stepMs, after, doubtMs }: Step): Promise<boolean> {
  const rows = await sql`
    UPDATE clock
       SET shift_ms = shift_ms + ${stepMs}, seen_at = seen_at + ${stepMs} * interval '1 millisecond',
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

/** Whether an outage has just ended that nobody has recorded. */
export function isOutage({ at, seenAt }: Pick<StoredClock, 'at' | 'seenAt'>): boolean {
  return at - seenAt >= outageFromMs;
}

/**
 * Records the outage that has just ended, if no other process has: then `seen_at` is recent. A transaction that calls this keeps others
 * from recording it until it ends.
 */
export async function recordOutage(sql: Sql): Promise<void> {
  await sql`
    UPDATE clock
       SET outage_ms = outage_ms
                     + CASE WHEN seen_at < clock_timestamp() - ${longestOutageMs} * interval '1 millisecond' THEN 0
                            ELSE (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint END,
           seen_at = clock_timestamp()
     WHERE seen_at < clock_timestamp() - ${outageFromMs} * interval '1 millisecond'`;
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
