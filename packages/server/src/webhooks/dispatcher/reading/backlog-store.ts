import type { Sql } from '../../../platform/database/database.ts';

/** The waiting deliveries of the destinations whose origins have one scheme. */
export interface SchemeBacklog {
  readonly scheme: string;
  /** Not yet attempted, and failed before. */
  readonly pending: number;
  readonly retrying: number;
  readonly oldestDueSec: number;
}

/**
 * The backlog of deliveries of all accounts. The recursion visits each destination with waiting deliveries once, as that of
 * `leaseAny`. Of one destination at most `most` fresh and `most` delayed ones are counted: the statement must stay cheap when a
 * receiver has been down for days. Served by deliveries_fresh and deliveries_due.
 */
export async function readBacklog(sql: Sql, most: number): Promise<SchemeBacklog[]> {
  return sql<SchemeBacklog[]>`
    WITH RECURSIVE
         fresh AS (
           (SELECT destination_id FROM deliveries
             WHERE state = 'pending' AND due_at IS NULL
             ORDER BY destination_id LIMIT 1)
           UNION ALL
           SELECT (SELECT w.destination_id FROM deliveries w
                    WHERE w.state = 'pending' AND w.due_at IS NULL AND w.destination_id > fresh.destination_id
                    ORDER BY w.destination_id LIMIT 1)
             FROM fresh
            WHERE fresh.destination_id IS NOT NULL),
         delayed AS (
           (SELECT destination_id FROM deliveries
             WHERE due_at IS NOT NULL
             ORDER BY destination_id LIMIT 1)
           UNION ALL
           SELECT (SELECT w.destination_id FROM deliveries w
                    WHERE w.due_at IS NOT NULL AND w.destination_id > delayed.destination_id
                    ORDER BY w.destination_id LIMIT 1)
             FROM delayed
            WHERE delayed.destination_id IS NOT NULL),
         counted AS (
           SELECT fresh.destination_id, found.*
             FROM fresh
            CROSS JOIN LATERAL (
                   SELECT count(*) AS pending, 0 AS retrying, min(created_at) AS since
                     FROM (SELECT w.created_at FROM deliveries w
                            WHERE w.destination_id = fresh.destination_id AND w.state = 'pending' AND w.due_at IS NULL
                            ORDER BY w.event_seq LIMIT ${most}) AS w) AS found
           UNION ALL
           SELECT delayed.destination_id, found.*
             FROM delayed
            CROSS JOIN LATERAL (
                   SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'retrying'),
                          min(due_at) FILTER (WHERE due_at <= now())
                     FROM (SELECT w.state, w.due_at FROM deliveries w
                            WHERE w.destination_id = delayed.destination_id AND w.due_at IS NOT NULL
                            ORDER BY w.due_at LIMIT ${most}) AS w) AS found)
    SELECT split_part(d.origin, ':', 1) AS scheme, sum(c.pending)::integer AS pending, sum(c.retrying)::integer AS retrying,
           greatest(coalesce(extract(epoch FROM now() - min(c.since)), 0), 0)::float8 AS "oldestDueSec"
      FROM counted c
      JOIN destinations d ON d.id = c.destination_id
     GROUP BY 1`;
}

interface LeaseCounts {
  readonly live: number;
  readonly expired: number;
}

/** Leases of all processes. A lease of a process that died counts as expired until another process takes it. Served by destinations_owned. */
export async function countLeases(sql: Sql): Promise<LeaseCounts> {
  const [row] = await sql<LeaseCounts[]>`
    SELECT count(*) FILTER (WHERE leased_until > now())::integer AS live,
           count(*) FILTER (WHERE leased_until <= now())::integer AS expired
      FROM destinations
     WHERE owner_session IS NOT NULL`;
  return row ?? { live: 0, expired: 0 };
}
