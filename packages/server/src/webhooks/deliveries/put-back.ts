import type { DestinationId } from '../../events/destination.ts';
import { reachesSite } from '../../events/subscribers.ts';
import { piece, type Piece, type Sql } from '../../platform/database.ts';
import type { SiteId } from '../../platform/ids.ts';
import type { DeliveryId, FinishedState } from './delivery.ts';

interface PutBack {
  readonly ids: readonly DeliveryId[];
  /** Of the webhook, as it is now: its address may have changed since. */
  readonly destinationId: DestinationId;
  /** On their own, out of order with others of their engagement. */
  readonly parked: boolean;
}

interface Finished extends PutBack {
  readonly states: readonly FinishedState[];
  /** When the log rows that stand for them were written: no other day is looked into. */
  readonly from: Date;
  readonly to: Date | null;
}

/**
 * Makes finished deliveries wait again, under their ids: the row of the log that stood for one no longer does. Two at once:
 * the second waits for the first and finds nothing that is final. Answers how many it was that this call put back.
 */
export async function putBackFinished(
  sql: Sql,
  { ids, states, from, to, destinationId, parked }: Finished,
): Promise<number> {
  // Served by delivery_log_by_delivery.
  const rows = await sql`
    WITH former AS (
           UPDATE delivery_log
              SET final = false
            WHERE delivery_id = ANY(${[...ids]}::uuid[]) AND final AND state = ANY(${[...states]}::text[])
              AND at >= ${from} AND (${to}::timestamptz IS NULL OR at <= ${to})
           RETURNING delivery_id, account_id, webhook_id, engagement_id, event_id, event_seq, event_xid, occurred_at,
                     event_type, created_at, body)
    INSERT INTO deliveries (id, account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                            occurred_at, event_type, state, parked, due_at, created_at, body)
    SELECT delivery_id, account_id, webhook_id, ${destinationId}, engagement_id, event_id, event_seq, event_xid,
           occurred_at, event_type, 'pending', ${parked}, now(), created_at, body
      FROM former
    RETURNING id`;
  return rows.length;
}

/** Those that are still held; how many. */
export async function putBackHeld(sql: Sql, { ids, destinationId, parked }: PutBack): Promise<number> {
  const rows = await sql`
    UPDATE deliveries
       SET state = 'pending', attempts = 0, parked = ${parked}, due_at = now(), destination_id = ${destinationId}
     WHERE id = ANY(${[...ids]}::uuid[]) AND state = 'held'
    RETURNING id`;
  return rows.length;
}

/** Whether what a delivery `d` tells of can still be told: its event is in the log, or it is a test and has none. */
export function eventIsKept(sql: Sql): Piece {
  return sql`(d.body IS NOT NULL OR EXISTS (${eventOf(sql)}))`;
}

/** Whether a delivery `d` tells of one of the sites. A test tells of none, and everybody who sees the webhook may see it. */
export function tellsOf(sql: Sql, siteIds: readonly SiteId[]): Piece {
  return sql`(d.body IS NOT NULL OR EXISTS (${eventOf(sql)} AND e.site_id = ANY(${[...siteIds]}::uuid[])))`;
}

/** Whether the webhook of a delivery `d` hears of the site of its event now: nobody is sent what happened on a site they have lost. */
export function isStillHeard(sql: Sql): Piece {
  return sql`
    (d.body IS NOT NULL
     OR EXISTS (${eventOf(sql)}
                   AND EXISTS (SELECT FROM webhooks w WHERE w.id = d.webhook_id AND ${reachesSite(sql, () => sql`e.site_id`)})))`;
}

const eventOf = piece(
  (sql) => sql`
    SELECT FROM events e
     WHERE e.account_id = d.account_id AND e.xid = d.event_xid AND e.seq = d.event_seq AND e.occurred_at = d.occurred_at`,
);
