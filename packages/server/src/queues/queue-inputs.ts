import type { Sql } from '../platform/database/database.ts';
import type { QueueId, SchedulingPolicyId } from '../platform/ids.ts';
import type { CompiledHours } from '../schedules/hours.ts';
import { readHours } from '../schedules/read-hours.ts';
import type { QueueRow } from './queue.ts';
import type { StaffGroup } from './staff.ts';
import { availableStaff, countVisitors, type QueueCount } from './store.ts';

/** Everything that determines the status of queues, besides the time. */
export interface QueueInputs {
  /** The queues, and those in their fallback chains. */
  readonly rows: readonly QueueRow[];
  readonly hours: ReadonlyMap<SchedulingPolicyId, CompiledHours>;
  /** The operators who are available on the sites of the queues. */
  readonly staff: readonly StaffGroup[];
  readonly counts: ReadonlyMap<QueueId, QueueCount>;
}

/** Reads what else determines the status of these queues. Leases of presence are compared with `at`. */
export async function readInputs(sql: Sql, rows: readonly QueueRow[], at: number): Promise<QueueInputs> {
  const siteIds = new Set(rows.map((row) => row.site_id));
  const policyIds = new Set(rows.flatMap((row) => row.scheduling_policy_id ?? []));
  const [hours, staff, counts] = await Promise.all([
    readHours(sql, [...policyIds]),
    availableStaff(sql, [...siteIds], at),
    countVisitors(sql, rows.map((row) => row.id)), // prettier-ignore
  ]);
  return { rows, hours, staff, counts: new Map(counts.map((count) => [count.id, count])) };
}
