import type { Sql } from './database.ts';

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
    await sql`SELECT make_day(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date + ${days}::integer)`;
}

export interface Retention {
  /** An instant that passed the check of the clock (`sweepTime`), because a dropped partition cannot be restored. */
  readonly now: Date;
  readonly days: number;
}

/** Drops the partitions of days more than `days` before today (UTC). */
export async function dropDays(sql: Sql, { log, key }: DailyLog, { now, days }: Retention): Promise<void> {
  await sql`
    SELECT drop_days_before(${log}, ${key}, (${now}::timestamptz AT TIME ZONE 'UTC')::date - ${days}::integer)`;
}
