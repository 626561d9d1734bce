import type { Medium } from '@usher/contract/media';
import type { Sql } from '../../platform/database.ts';
import type { AccountId, OperatorId, SiteId } from '../../platform/ids.ts';
import { intervalEnd, intervalsInRange, presenceType } from '../statistics/facts.ts';

export interface IntervalRow {
  /** The number of the interval: later intervals of an operator have greater ones. */
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
  /** `null`: every operator. */
  readonly operatorIds: readonly OperatorId[] | null;
  readonly from: Date;
  readonly to: Date;
  /** Only those with a greater number. */
  readonly after: number;
  readonly limit: number;
}

/**
 * Intervals that reach into the range, in the order in which they were written. One that goes on has no end yet; one whose lease
 * has ended has, whether somebody has noted it or not.
 */
export async function listIntervals(sql: Sql, filter: IntervalFilter): Promise<IntervalRow[]> {
  const { accountId, siteIds, operatorIds, from, after, limit } = filter;
  return sql<IntervalRow[]>`
    SELECT kept.id::float8 AS number, o.id AS operator_id, ${presenceType(sql)} AS type, kept.media, kept.reason,
           kept.started_at, CASE WHEN kept.ended_at IS NOT NULL OR ends.at < now() THEN ends.at END AS ended_at
      FROM operators o
     CROSS JOIN LATERAL (${intervalsInRange(sql, filter)}) AS kept
     CROSS JOIN LATERAL (SELECT ${intervalEnd(sql)} AS at) AS ends
     WHERE o.account_id = ${accountId} AND (${operatorIds === null} OR o.id = ANY(${[...(operatorIds ?? [])]}::uuid[]))
       AND kept.site_ids && ${[...siteIds]}::uuid[] AND kept.id > ${after}
       AND ends.at > ${from} AND ends.at > kept.started_at
     ORDER BY kept.id
     LIMIT ${limit}`;
}

const inBatch = 10_000;

/** Drops intervals that ended more than so many days ago. What goes on stays. Served by presence_intervals_by_age. */
export async function dropOldIntervals(
  sql: Sql,
  { now, days }: { readonly now: Date; readonly days: number },
): Promise<void> {
  let dropped = inBatch;
  while (dropped >= inBatch) {
    const { count } = await sql`
      DELETE FROM presence_intervals
       WHERE ctid = ANY(ARRAY(
               SELECT ctid
                 FROM presence_intervals
                WHERE started_at < ${now}::timestamptz - make_interval(days => ${days}::integer)
                  AND ended_at < ${now}::timestamptz - make_interval(days => ${days}::integer)
                LIMIT ${inBatch}))`;
    dropped = count;
  }
}
