import type { Sql } from '../../platform/database.ts';
import type { AccountId, QueueId, SiteId } from '../../platform/ids.ts';

interface StatsQuery {
  readonly queueId: QueueId;
  readonly from: Date;
  readonly to: Date;
  readonly serviceLevelSec: number;
}

export interface QueueStats {
  readonly arrivals: number;
  readonly waiting: number;
  readonly engaged: number;
  readonly engaged_elsewhere: number;
  readonly abandoned: number;
  readonly expired: number;
  readonly unstaffed: number;
  readonly rerouted: number;
  readonly average_wait_sec: number | null;
  readonly longest_wait_sec: number | null;
  readonly within_service_level: number | null;
}

/** Aggregates of completed visits. */
const outcomes = (sql: Sql, serviceLevelSec: number) => sql`
           count(*) FILTER (WHERE outcome = 'engaged')::integer AS engaged,
           count(*) FILTER (WHERE outcome = 'engaged_elsewhere')::integer AS engaged_elsewhere,
           count(*) FILTER (WHERE outcome IN ('canceled', 'visitor_left'))::integer AS abandoned,
           count(*) FILTER (WHERE outcome = 'expired')::integer AS expired,
           count(*) FILTER (WHERE outcome = 'unstaffed')::integer AS unstaffed,
           count(*) FILTER (WHERE outcome = 'moved')::integer AS rerouted,
           (avg(wait) FILTER (WHERE outcome = 'engaged'))::float8 AS average_wait_sec,
           (max(wait) FILTER (WHERE outcome = 'engaged'))::float8 AS longest_wait_sec,
           (count(*) FILTER (WHERE outcome = 'engaged' AND wait <= ${serviceLevelSec}::float8))::float8
             / nullif(count(*) FILTER (WHERE outcome IN ('engaged', 'canceled', 'visitor_left')), 0) AS within_service_level`;

/**
 * Outcomes of the visitors who entered the queue in the interval. Waits are those of visitors who were engaged from the queue, since
 * their first enqueue. Served by queue_visits_by_queue and, for visitors still in the queue, queue_tickets_active.
 */
export async function queueStats(sql: Sql, { queueId, from, to, serviceLevelSec }: StatsQuery): Promise<QueueStats> {
  const [row] = await sql<QueueStats[]>`
    WITH visits AS (
           SELECT outcome, extract(epoch FROM left_at - enqueued_at) AS wait
             FROM queue_visits
            WHERE queue_id = ${queueId} AND entered_at >= ${from} AND entered_at < ${to}),
         here AS (
           SELECT count(*)::integer AS count
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS entry (queue_id, entered_at)
            WHERE t.account_id = (SELECT account_id FROM queues WHERE id = ${queueId})
              AND t.ended_at IS NULL AND entry.queue_id = ${queueId}
              AND entry.entered_at >= ${from} AND entry.entered_at < ${to})
    SELECT (count(*) + (SELECT count FROM here))::integer AS arrivals,
           (SELECT count FROM here) AS waiting,
           ${outcomes(sql, serviceLevelSec)}
      FROM visits`;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}

interface SeriesQuery {
  readonly accountId: AccountId;
  readonly queueIds: readonly QueueId[];
  readonly from: Date;
  readonly to: Date;
  readonly intervalSec: number;
  readonly serviceLevelSec: number;
}

/**
 * The same for several queues together, per interval from `from` on; the last interval ends at `to`. A visitor who enters two of
 * the queues counts twice, as the sum of the stats of each queue does. Served by the same indexes.
 */
export async function statsByInterval(
  sql: Sql,
  { accountId, queueIds, from, to, intervalSec, serviceLevelSec }: SeriesQuery,
): Promise<(QueueStats & { from: Date; to: Date })[]> {
  const queues = [...queueIds];
  const number = (at: ReturnType<Sql>) =>
    sql`floor(extract(epoch FROM ${at} - ${from}::timestamptz) / ${intervalSec}::numeric)::integer`;
  return sql<(QueueStats & { from: Date; to: Date })[]>`
    WITH intervals AS (
           SELECT number, start AS "from", least(start + make_interval(secs => ${intervalSec}), ${to}::timestamptz) AS "to"
             FROM generate_series(0, ${Math.ceil((to.getTime() - from.getTime()) / (intervalSec * 1_000)) - 1}::integer) AS number,
                  LATERAL (SELECT ${from}::timestamptz + make_interval(secs => number * ${intervalSec}) AS start) AS begins),
         visits AS (
           SELECT ${number(sql`entered_at`)} AS number, outcome, extract(epoch FROM left_at - enqueued_at) AS wait
             FROM queue_visits
            WHERE queue_id = ANY(${queues}::uuid[]) AND entered_at >= ${from} AND entered_at < ${to}),
         left_it AS (
           SELECT number, count(*) AS count, ${outcomes(sql, serviceLevelSec)}
             FROM visits
            GROUP BY number),
         here AS (
           SELECT ${number(sql`entry.entered_at`)} AS number, count(*)::integer AS count
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS entry (queue_id, entered_at)
            WHERE t.account_id = ${accountId} AND t.ended_at IS NULL AND entry.queue_id = ANY(${queues}::uuid[])
              AND entry.entered_at >= ${from} AND entry.entered_at < ${to}
            GROUP BY 1)
    SELECT i."from", i."to",
           (coalesce(l.count, 0) + coalesce(h.count, 0))::integer AS arrivals, coalesce(h.count, 0) AS waiting,
           coalesce(engaged, 0) AS engaged, coalesce(engaged_elsewhere, 0) AS engaged_elsewhere,
           coalesce(abandoned, 0) AS abandoned, coalesce(expired, 0) AS expired, coalesce(unstaffed, 0) AS unstaffed,
           coalesce(rerouted, 0) AS rerouted, average_wait_sec, longest_wait_sec, within_service_level
      FROM intervals i
      LEFT JOIN left_it l ON l.number = i.number
      LEFT JOIN here h ON h.number = i.number
     ORDER BY i.number`;
}

export async function queueIdsOf(sql: Sql, siteIds: readonly SiteId[]): Promise<QueueId[]> {
  const rows = await sql<{ id: QueueId }[]>`SELECT id FROM queues WHERE site_id = ANY(${[...siteIds]}::uuid[])`;
  return rows.map(({ id }) => id);
}

/** The average recent wait in the site's queues, in seconds; 0 if there is none. */
export async function averageWait(sql: Sql, siteId: SiteId): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    SELECT coalesce(avg(wait), 0)::float8 / 1000 AS seconds
      FROM queues q JOIN queue_states s ON s.queue_id = q.id, unnest(s.waits) AS wait
     WHERE q.site_id = ${siteId}`;
  return row?.seconds ?? 0;
}
