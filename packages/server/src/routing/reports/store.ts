import type { SqlFragment, Sql } from '../../platform/database/database.ts';
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

/**
 * Completed visits, added up by outcome: there are many visits and few outcomes, and each figure below looks at every row. Waits
 * remain intervals, which are exact, until they are added up, because `date_part` takes longer than all else that a row needs.
 */
const byOutcome = (sql: Sql, serviceLevelSec: number, visits: SqlFragment) => sql`
           SELECT start, outcome, count(*) AS visits, ${milliseconds(sql, sql`sum(wait)`)} AS total_ms,
                  ${milliseconds(sql, sql`max(wait)`)} AS longest_ms,
                  count(*) FILTER (WHERE wait <= ${seconds(serviceLevelSec)}::interval) AS served_in_time
             FROM (${visits}) AS visit
            GROUP BY start, outcome`;

/** As a parameter: an expression such as `make_interval` would be evaluated for each row. */
const seconds = (count: number): string => `${count.toFixed(6)} seconds`;

/** An interval in whole milliseconds, which the columns have. `date_part` returns a double and is cheaper than `extract`. */
const milliseconds = (sql: Sql, interval: SqlFragment) => sql`round(date_part('epoch', ${interval}) * 1000)::bigint`;

const visitsWith = (sql: Sql, outcomes: readonly string[]) =>
  sql`coalesce(sum(visits) FILTER (WHERE outcome = ANY(${[...outcomes]}::text[])), 0)`;

/** Aggregates of the rows of `byOutcome`. */
const outcomes = (sql: Sql) => sql`
           ${visitsWith(sql, ['engaged'])}::integer AS engaged,
           ${visitsWith(sql, ['engaged_elsewhere'])}::integer AS engaged_elsewhere,
           ${visitsWith(sql, ['canceled', 'visitor_left'])}::integer AS abandoned,
           ${visitsWith(sql, ['expired'])}::integer AS expired,
           ${visitsWith(sql, ['unstaffed'])}::integer AS unstaffed,
           ${visitsWith(sql, ['moved'])}::integer AS rerouted,
           (sum(total_ms) FILTER (WHERE outcome = 'engaged') / sum(visits) FILTER (WHERE outcome = 'engaged') / 1000)::float8
             AS average_wait_sec,
           (max(longest_ms) FILTER (WHERE outcome = 'engaged') / 1000.0)::float8 AS longest_wait_sec,
           coalesce(sum(served_in_time) FILTER (WHERE outcome = 'engaged'), 0)::float8
             / nullif(${visitsWith(sql, ['engaged', 'canceled', 'visitor_left'])}, 0)::float8 AS within_service_level`;

/**
 * Outcomes of the visitors who entered the queue in the interval. Waits are those of visitors who were engaged from the queue, since
 * their first enqueue. Served by queue_visits_by_queue and, for visitors still in the queue, queue_tickets_active.
 */
export async function queueStats(sql: Sql, { queueId, from, to, serviceLevelSec }: StatsQuery): Promise<QueueStats> {
  const visits = sql`
                  SELECT ${from}::timestamptz AS start, outcome, left_at - enqueued_at AS wait
                    FROM queue_visits
                   WHERE queue_id = ${queueId} AND entered_at >= ${from} AND entered_at < ${to}`;
  const [row] = await sql<QueueStats[]>`
    WITH outcomes AS (${byOutcome(sql, serviceLevelSec, visits)}),
         here AS (
           SELECT count(*)::integer AS count
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS entry (queue_id, entered_at)
            WHERE t.account_id = (SELECT account_id FROM queues WHERE id = ${queueId})
              AND t.ended_at IS NULL AND entry.queue_id = ${queueId}
              AND entry.entered_at >= ${from} AND entry.entered_at < ${to})
    SELECT (coalesce(sum(visits), 0) + (SELECT count FROM here))::integer AS arrivals,
           (SELECT count FROM here) AS waiting,
           ${outcomes(sql)}
      FROM outcomes`;
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
  const startOf = (at: SqlFragment) => sql`date_bin(${seconds(intervalSec)}::interval, ${at}, ${from}::timestamptz)`;
  const visits = sql`
                  SELECT ${startOf(sql`entered_at`)} AS start, outcome, left_at - enqueued_at AS wait
                    FROM queue_visits
                   WHERE queue_id = ANY(${queues}::uuid[]) AND entered_at >= ${from} AND entered_at < ${to}`;
  return sql<(QueueStats & { from: Date; to: Date })[]>`
    WITH intervals AS (
           SELECT start, least(start + ${seconds(intervalSec)}::interval, ${to}::timestamptz) AS "to"
             FROM generate_series(0, ${Math.ceil((to.getTime() - from.getTime()) / (intervalSec * 1_000)) - 1}::integer) AS number,
                  LATERAL (SELECT ${from}::timestamptz + make_interval(secs => number * ${intervalSec}) AS start) AS begins),
         outcomes AS (${byOutcome(sql, serviceLevelSec, visits)}),
         left_it AS (
           SELECT start, sum(visits)::bigint AS count, ${outcomes(sql)}
             FROM outcomes
            GROUP BY start),
         here AS (
           SELECT ${startOf(sql`entry.entered_at`)} AS start, count(*)::integer AS count
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS entry (queue_id, entered_at)
            WHERE t.account_id = ${accountId} AND t.ended_at IS NULL AND entry.queue_id = ANY(${queues}::uuid[])
              AND entry.entered_at >= ${from} AND entry.entered_at < ${to}
            GROUP BY 1)
    SELECT i.start AS "from", i."to",
           (coalesce(l.count, 0) + coalesce(h.count, 0))::integer AS arrivals, coalesce(h.count, 0) AS waiting,
           coalesce(engaged, 0) AS engaged, coalesce(engaged_elsewhere, 0) AS engaged_elsewhere,
           coalesce(abandoned, 0) AS abandoned, coalesce(expired, 0) AS expired, coalesce(unstaffed, 0) AS unstaffed,
           coalesce(rerouted, 0) AS rerouted, average_wait_sec, longest_wait_sec, within_service_level
      FROM intervals i
      LEFT JOIN left_it l ON l.start = i.start
      LEFT JOIN here h ON h.start = i.start
     ORDER BY i.start`;
}

/**
 * Gives the transaction the memory for `statsByInterval`. The planner cannot estimate `date_bin` and expects as many groups as there
 * are visits. With the default memory it would sort all visits, which takes longer than adding them up.
 */
export async function groupInMemory(sql: Sql): Promise<void> {
  await sql`SELECT set_config('work_mem', '64MB', true)`;
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
