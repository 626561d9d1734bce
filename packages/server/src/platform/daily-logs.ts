import type { Sql } from './database.ts';

/** Days from today (UTC) that have a partition. The furthest is made first: a full today must not cost us tomorrow. */
const daysAhead = [3, 2, 1, 0];

interface DailyLog {
  readonly log: 'events' | 'delivery_log' | 'audit_log';
  /** The instant that says which day a row is of. */
  readonly key: string;
}

export const eventLog: DailyLog = { log: 'events', key: 'occurred_at' };
export const auditLog: DailyLog = { log: 'audit_log', key: 'at' };
export const deliveryLog: DailyLog = { log: 'delivery_log', key: 'at' };

/** Makes the partitions of today and the days to come, by the database's clock: even a wrong clock writes into them. */
export async function makeDays(sql: Sql, { log, key }: DailyLog): Promise<void> {
  for (const days of daysAhead)
    await sql`SELECT make_day(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date + ${days}::integer)`;
}

export interface Retention {
  /** An instant that is known to be right: what is dropped does not come back. */
  readonly now: Date;
  readonly days: number;
}

/** Drops the partitions of days more than `days` before today (UTC). */
export async function dropDays(sql: Sql, { log, key }: DailyLog, { now, days }: Retention): Promise<void> {
  await sql`
    SELECT drop_days_before(${log}, ${key}, (${now}::timestamptz AT TIME ZONE 'UTC')::date - ${days}::integer)`;
}
