import type { Medium } from '@usher/contract/media';
import { deleteMatching, type ShouldContinue } from '../../platform/database/batches.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import { intervalsInRange, presenceType } from '../statistics/facts.ts';

export interface IntervalRow {
  /** The sequence number of the interval: it grows with each interval of an operator. */
  readonly number: number;
  readonly operator_id: OperatorId;
  readonly type: string;
  readonly media: Medium[];
  readonly reason: string | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

interface IntervalFilter {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  /** `null`: all operators. */
  readonly operatorIds: readonly OperatorId[] | null;
  readonly from: Date;
  readonly to: Date;
  /** Only intervals with a greater number. */
  readonly after: number;
  readonly limit: number;
}

/**
 * Intervals that overlap the range, in the order in which they were written. The current interval has no end, unless its lease has
 * ended; then it ends with the lease, even if no turn has recorded that yet.
 */
export async function listIntervals(sql: Sql, filter: IntervalFilter): Promise<IntervalRow[]> {
  const { operatorIds, after, limit } = filter;
  return sql<IntervalRow[]>`
    SELECT kept.id::float8 AS number, kept.operator_id, ${presenceType(sql)} AS type, kept.media, kept.reason,
           kept.started_at, CASE WHEN kept.ended_at IS NOT NULL OR kept.until < now() THEN kept.until END AS ended_at
      FROM (${intervalsInRange(sql, filter)}) AS kept
     WHERE (${operatorIds === null} OR kept.operator_id = ANY(${[...(operatorIds ?? [])]}::uuid[]))
       AND kept.id > ${after}
       AND kept.until > kept.started_at
     ORDER BY kept.id
     LIMIT ${limit}`;
}

/** Deletes intervals that ended more than `days` days ago. Served by presence_intervals_by_age. */
export async function dropOldIntervals(
  pool: Sql,
  { now, days }: { readonly now: Date; readonly days: number },
  shouldContinue: ShouldContinue,
): Promise<void> {
  const where = (sql: Sql) => {
    const kept = sql`${now}::timestamptz - make_interval(days => ${days}::integer)`;
    return sql`started_at < ${kept} AND ended_at < ${kept}`;
  };
  await deleteMatching(pool, { table: 'presence_intervals', where }, shouldContinue);
}
