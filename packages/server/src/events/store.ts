import type { Sql } from '../platform/database.ts';

/** Days from today (UTC) that have a partition. The furthest is made first: a full today must not cost us tomorrow. */
const daysAhead = [3, 2, 1, 0];

interface DailyLog {
  readonly log: 'events' | 'delivery_log' | 'audit_log';
  /** The instant that says which day a row is of. */
  readonly key: string;
  readonly retentionDays: number;
}

/** Makes the partitions of the days to come, and drops those of days more than `retentionDays` before today. */
export async function keepDays(sql: Sql, { log, key, retentionDays }: DailyLog): Promise<void> {
  for (const days of daysAhead) {
    await sql`SELECT make_day(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date + ${days}::integer)`;
  }
  await sql`SELECT drop_days_before(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date - ${retentionDays}::integer)`;
}

export async function keepEventPartitions(sql: Sql, retentionDays: number): Promise<void> {
  await keepDays(sql, { log: 'events', key: 'occurred_at', retentionDays });
}
