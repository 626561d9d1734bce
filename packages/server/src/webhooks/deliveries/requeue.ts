import type { DestinationId } from '../../events/subscriptions/destination.ts';
import { reachesSite } from '../../events/subscriptions/subscribers.ts';
import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';
import type { SiteId } from '../../platform/ids.ts';
import type { DeliveryId, FinishedState } from './delivery.ts';

interface RequeueInput {
  readonly ids: readonly DeliveryId[];
  /** The current destination of the webhook, whose URL may have changed since. */
  readonly destinationId: DestinationId;
  /** Whether they are sent out of order with others of their engagement. */
  readonly parked: boolean;
}

interface RequeueFinishedInput extends RequeueInput {
  readonly states: readonly FinishedState[];
  /** The time range of their final log rows: partitions of other days are not read. */
  readonly from: Date;
  readonly to: Date | null;
}

/**
 * Requeues finished deliveries under their ids: their log rows are no longer final. Of two concurrent calls the second waits for
 * the first and finds no final rows. Returns how many this call has requeued.
 */
export async function requeueFinished(
  sql: Sql,
  { ids, states, from, to, destinationId, parked }: RequeueFinishedInput,
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

/** Requeues those that are still held; returns how many. */
export async function requeueHeld(sql: Sql, { ids, destinationId, parked }: RequeueInput): Promise<number> {
  const rows = await sql`
    UPDATE deliveries
       SET state = 'pending', attempts = 0, parked = ${parked}, due_at = now(), destination_id = ${destinationId}
     WHERE id = ANY(${[...ids]}::uuid[]) AND state = 'held'
    RETURNING id`;
  return rows.length;
}

/** Whether the delivery `d` can still be sent: its event is in the log, or it is a test, which has no event. */
export function eventIsKept(sql: Sql): SqlFragment {
  return sql`(d.body IS NOT NULL OR EXISTS (${eventOf(sql)}))`;
}

/** Whether the event of the delivery `d` is of one of the sites. A test has no site: everybody who sees the webhook may see it. */
export function isOfSites(sql: Sql, siteIds: readonly SiteId[]): SqlFragment {
  return sql`(d.body IS NOT NULL OR EXISTS (${eventOf(sql)} AND e.site_id = ANY(${[...siteIds]}::uuid[])))`;
}

/**
 * Whether the webhook of the delivery `d` still covers the site of the event. Events of a lost site are not sent. An event about
 * another webhook has no site.
 */
export function isStillCovered(sql: Sql): SqlFragment {
  return sql`
    (d.body IS NOT NULL
     OR EXISTS (${eventOf(sql)}
                   AND (e.site_id IS NULL OR EXISTS (SELECT FROM webhooks w WHERE w.id = d.webhook_id AND ${reachesSite(sql, () => sql`e.site_id`)}))))`;
}

const eventOf = fragment(
  (sql) => sql`
    SELECT FROM events e
     WHERE e.account_id = d.account_id AND e.xid = d.event_xid AND e.seq = d.event_seq AND e.occurred_at = d.occurred_at`,
);
