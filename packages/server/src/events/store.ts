import type { Sql } from '../platform/database.ts';

/** Days from today (UTC) that have a partition. The furthest is made first: a full today must not cost us tomorrow. */
const daysAhead = [3, 2, 1, 0];

/** Makes the partitions of the days to come, and drops events of days more than `retentionDays` before today. */
export async function keepEventPartitions(sql: Sql, retentionDays: number): Promise<void> {
  for (const days of daysAhead) {
    await sql`SELECT make_event_partition((now() AT TIME ZONE 'UTC')::date + ${days}::integer)`;
  }
  await sql`SELECT drop_events_before((now() AT TIME ZONE 'UTC')::date - ${retentionDays}::integer)`;
}
