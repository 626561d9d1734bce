import type { Sql } from '../../platform/database.ts';
import type { QueueId, SiteId } from '../../platform/ids.ts';

interface Interval {
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
 * What became of those who entered the queue in the interval. Waits are those of visitors who were engaged from it, from
 * their first enqueue. Served by queue_visits_by_queue and, for those still in it, queue_tickets_active.
 */
export async function queueStats(sql: Sql, { queueId, from, to, serviceLevelSec }: Interval): Promise<QueueStats> {
  const [row] = await sql<QueueStats[]>`
    WITH visits AS (
           SELECT outcome, extract(epoch FROM left_at - enqueued_at) AS wait
             FROM queue_visits
            WHERE queue_id = ${queueId} AND entered_at >= ${from} AND entered_at < ${to}),
         here AS (
           SELECT count(*)::integer AS count
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS place (queue_id, entered_at)
            WHERE t.account_id = (SELECT account_id FROM queues WHERE id = ${queueId})
              AND t.ended_at IS NULL AND place.queue_id = ${queueId}
              AND place.entered_at >= ${from} AND place.entered_at < ${to})
    SELECT (count(*) + (SELECT count FROM here))::integer AS arrivals,
           (SELECT count FROM here) AS waiting,
           count(*) FILTER (WHERE outcome = 'engaged')::integer AS engaged,
           count(*) FILTER (WHERE outcome = 'engaged_elsewhere')::integer AS engaged_elsewhere,
           count(*) FILTER (WHERE outcome IN ('canceled', 'visitor_left'))::integer AS abandoned,
           count(*) FILTER (WHERE outcome = 'expired')::integer AS expired,
           count(*) FILTER (WHERE outcome = 'unstaffed')::integer AS unstaffed,
           count(*) FILTER (WHERE outcome = 'moved')::integer AS rerouted,
           (avg(wait) FILTER (WHERE outcome = 'engaged'))::float8 AS average_wait_sec,
           (max(wait) FILTER (WHERE outcome = 'engaged'))::float8 AS longest_wait_sec,
           (count(*) FILTER (WHERE outcome = 'engaged' AND wait <= ${serviceLevelSec}::float8))::float8
             / nullif(count(*) FILTER (WHERE outcome IN ('engaged', 'canceled', 'visitor_left')), 0) AS within_service_level
      FROM visits`;
  if (row === undefined) throw new Error('counting gave no row');
  return row;
}

/** How long the last visitors of the site's queues had waited, in seconds; 0 where nobody has. */
export async function averageWait(sql: Sql, siteId: SiteId): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    SELECT coalesce(avg(wait), 0)::float8 / 1000 AS seconds
      FROM queues q JOIN queue_states s ON s.queue_id = q.id, unnest(s.waits) AS wait
     WHERE q.site_id = ${siteId}`;
  return row?.seconds ?? 0;
}
