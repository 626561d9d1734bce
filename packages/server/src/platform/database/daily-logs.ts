import { setTimeout as sleep } from 'node:timers/promises';
import { isLockTimeout, type Sql } from './database.ts';

/** The days from today (UTC) that get a partition. The furthest is created first, so that a failure today leaves time. */
const daysAhead = [3, 2, 1, 0];

interface DailyLog {
  readonly log: 'events' | 'delivery_log' | 'audit_log';
  /** The column with the instant that determines the day of a row. */
  readonly key: string;
}

export const eventLog: DailyLog = { log: 'events', key: 'occurred_at' };
export const auditLog: DailyLog = { log: 'audit_log', key: 'at' };
export const deliveryLog: DailyLog = { log: 'delivery_log', key: 'at' };

/** Creates the partitions of today and the next days by the database's clock, because rows are written by that clock, right or wrong. */
export async function makeDays(sql: Sql, { log, key }: DailyLog): Promise<void> {
  for (const days of daysAhead)
    await retryWhileLocked(
      async () => sql`SELECT make_day(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date + ${days}::integer)`,
    );
}

export interface Retention {
  /** An instant that passed the check of the clock (`sweepTime`), because a dropped partition cannot be restored. */
  readonly now: Date;
  readonly days: number;
}

/** Partitions that one sweep drops at most; the next sweep continues. */
const maxDropsAtOnce = 100;

/** Drops the partitions of days more than `days` before today (UTC), each in a transaction of its own. */
export async function dropDays(sql: Sql, { log, key }: DailyLog, { now, days }: Retention): Promise<void> {
  const firstKept = sql`(${now}::timestamptz AT TIME ZONE 'UTC')::date - ${days}::integer`;
  for (let drops = 0; drops < maxDropsAtOnce; drops += 1) {
    const [row] = await retryWhileLocked(
      async () => sql<{ dropped: boolean }[]>`SELECT drop_oldest_day(${log}, ${firstKept}) AS dropped`,
    );
    if (row?.dropped !== true) break;
  }
  // Old rows without a partition of their own.
  await sql`SELECT drop_days_before(${log}, ${key}, ${firstKept})`;
}

const maxTries = 5;
const retryMs = 1_000;

/**
 * The functions wait for a lock for 100 ms at most, because every writer of the log waits behind them. A usual transaction ends before the
 * next attempt. A backup holds its locks for longer: then the sweep fails, and the next one tries again.
 */
async function retryWhileLocked<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error) || tries === maxTries) throw error;
    }
    await sleep(retryMs);
  }
}
