import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import type { LaneName } from './lanes.ts';
import type { Moment } from './reading/watermark.ts';

export interface DeliveryQuery {
  readonly id: DestinationId;
  /** Fresh deliveries after this `seq` of the log, and how many. */
  readonly after: number;
  readonly fresh: number;
  /** How many delayed deliveries that are due. */
  readonly due: number;
  /** Lanes whose fresh deliveries are not read. */
  readonly excluded: readonly LaneName[];
}

interface ReadMoment extends Moment {
  /** The tag of the log's epoch; `null`: none is in force. */
  readonly tag: string | null;
}

export interface ReadRows {
  readonly moment: ReadMoment;
  readonly deliveries: readonly Delivery[];
}

/**
 * The id of the next transaction. `age` is the distance from a transaction to PostgreSQL's counter; unlike
 * `pg_current_xact_id()`, it assigns no id to this transaction.
 */
const nextXid = fragment(
  (sql) => sql`
           pg_snapshot_xmax(pg_current_snapshot())::text::float8 + age(pg_snapshot_xmax(pg_current_snapshot())::xid)`,
);

/** `which` is the index of the destination in the queries: ids would be most of the data that is read. */
type ReadRow = Omit<Delivery, 'destinationId'> & { readonly which: number };

/** Reads the due deliveries of these destinations with their payloads; fresh ones in the order of the log. */
export async function readDeliveries(sql: Sql, queries: readonly DeliveryQuery[]): Promise<ReadRows> {
  const rows = await sql<((ReadRow | { readonly id: null }) & ReadMoment)[]>`
    WITH queries AS (
           SELECT *
             FROM unnest(${queries.map(({ id }) => id)}::uuid[], ${queries.map(({ after }) => after)}::bigint[],
                         ${queries.map(({ fresh }) => fresh)}::integer[], ${queries.map(({ due }) => due)}::integer[])
                  WITH ORDINALITY AS w (id, after, fresh, due, ordinal)),
         found AS (
           SELECT waiting.*, queries.ordinal - 1 AS which, row_number() OVER () AS place
             FROM queries
            CROSS JOIN LATERAL (
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = queries.id AND d.due_at <= now() AND (d.state = 'retrying' OR d.parked)
                      ORDER BY d.due_at, d.event_seq
                      LIMIT queries.due)
                    UNION ALL
                    -- Recovered deliveries. They wait in their lanes like fresh ones, so they come after failed ones.
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = queries.id AND d.due_at <= now() AND d.state = 'pending'
                        AND NOT d.parked ${excludedLanes(sql, queries)}
                      ORDER BY d.due_at, d.event_seq
                      LIMIT queries.due)
                    UNION ALL
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = queries.id AND d.state = 'pending' AND d.due_at IS NULL
                        AND d.event_seq > queries.after ${excludedLanes(sql, queries)}
                      ORDER BY d.event_seq
                      LIMIT queries.fresh)) AS waiting)
    SELECT f.id, f.which::integer AS which, f.webhook_id AS "webhookId", f.engagement_id AS "engagementId",
           f.event_id AS "eventId", f.event_seq::float8 AS seq, f.event_type AS type, f.attempts, f.parked,
           f.due_at IS NOT NULL AS "isDelayed", f.created_at AS "createdAt", e.site_id AS "siteId",
           coalesce(f.body::text, e.payload::text) AS payload, e.traceparent, e.tracestate,
           -- Only the first row has these.
           CASE WHEN f.place > 1 THEN NULL ELSE (SELECT tag FROM log_epoch_in_force) END AS tag,
           CASE WHEN f.place > 1 THEN NULL ELSE pg_snapshot_xmin(pg_current_snapshot())::text::float8 END AS xmin,
           CASE WHEN f.place > 1 THEN NULL ELSE ${nextXid(sql)} END AS "nextXid",
           CASE WHEN f.place > 1 THEN NULL ELSE (SELECT last_value::float8 FROM events_seq_seq) END AS "lastSeq"
      FROM (SELECT) AS moment
      LEFT JOIN found f ON true
      LEFT JOIN LATERAL (${payloadOf(sql)}) AS e ON true`;
  const [first] = rows;
  if (first === undefined) throw new Error('the read returned no row');
  const deliveries: Delivery[] = [];
  for (const row of rows) {
    // A row without a delivery has only the moment.
    const destination = row.id === null ? undefined : queries[row.which];
    if (row.id !== null && destination !== undefined) deliveries.push({ ...row, destinationId: destination.id });
  }
  return { moment: first, deliveries };
}

/** Deliveries of blocked lanes are not read, because they would be read and dropped again and again; there may be 100,000. */
function excludedLanes(sql: Sql, queries: readonly DeliveryQuery[]): SqlFragment {
  const lanes = queries.flatMap((each) => each.excluded);
  if (lanes.length === 0) return nothing(sql);
  return sql`
                        AND (d.engagement_id IS NULL OR (d.webhook_id, d.engagement_id) NOT IN (
                               SELECT s.webhook_id, s.engagement_id
                                 FROM unnest(${lanes.map(({ webhookId }) => webhookId)}::uuid[],
                                             ${lanes.map(({ engagementId }) => engagementId)}::uuid[])
                                      AS s (webhook_id, engagement_id)))`;
}

const nothing = fragment((sql) => sql``);

/** Deliveries of a lane that one statement reads. */
export const laneBatch = 200;

/**
 * Reads the next deliveries of a lane, fresh or recovered, from the beginning. No index serves this exactly, because every insert
 * would pay for it; the statement scans the fresh deliveries of the destination.
 */
export async function readLane(sql: Sql, destinationId: DestinationId, lane: LaneName): Promise<readonly Delivery[]> {
  return sql<Delivery[]>`
    SELECT f.id, f.destination_id AS "destinationId", f.webhook_id AS "webhookId", f.engagement_id AS "engagementId",
           f.event_id AS "eventId", f.event_seq::float8 AS seq, f.event_type AS type, f.attempts, f.parked,
           f.due_at IS NOT NULL AS "isDelayed", f.created_at AS "createdAt", e.site_id AS "siteId",
           coalesce(f.body::text, e.payload::text) AS payload, e.traceparent, e.tracestate
      FROM (SELECT waiting.*
              FROM ((SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = ${destinationId} AND d.state = 'pending' AND d.due_at IS NULL
                        AND d.webhook_id = ${lane.webhookId} AND d.engagement_id = ${lane.engagementId}
                      ORDER BY d.event_seq
                      LIMIT ${laneBatch})
                    UNION ALL
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = ${destinationId} AND d.state = 'pending' AND d.due_at <= now()
                        AND d.webhook_id = ${lane.webhookId} AND d.engagement_id = ${lane.engagementId}
                        AND NOT d.parked
                      ORDER BY d.event_seq
                      LIMIT ${laneBatch})) AS waiting
             ORDER BY waiting.event_seq
             LIMIT ${laneBatch}) AS f
      LEFT JOIN LATERAL (${payloadOf(sql)}) AS e ON true
     ORDER BY f.event_seq`;
}

/** The event of the delivery `f`. */
const payloadOf = fragment(
  (sql) => sql`
             SELECT e.payload, e.site_id, e.traceparent, e.tracestate
               FROM events e
              WHERE e.account_id = f.account_id AND e.xid = f.event_xid AND e.seq = f.event_seq
                AND e.occurred_at = f.occurred_at
              LIMIT 1`,
);

/** The current destinations of these webhooks. */
export async function destinationsOf(sql: Sql, webhooks: readonly WebhookId[]): Promise<readonly DestinationId[]> {
  const rows = await sql<{ id: DestinationId }[]>`
    SELECT DISTINCT destination_id AS id FROM webhooks WHERE id = ANY(${[...webhooks]}::uuid[])`;
  return rows.map(({ id }) => id);
}

export interface BlockedLane {
  /** Of the head. */
  readonly id: DeliveryId;
  readonly destinationId: DestinationId;
  readonly webhookId: string;
  readonly engagementId: string;
}

/** The heads of blocked lanes: failed deliveries that the others of their lanes wait for. */
export async function readBlockedLanes(sql: Sql, ids: readonly DestinationId[], most: number): Promise<BlockedLane[]> {
  return sql<BlockedLane[]>`
    SELECT d.id, d.destination_id AS "destinationId", d.webhook_id AS "webhookId", d.engagement_id AS "engagementId"
      FROM unnest(${[...ids]}::uuid[]) AS queries (id)
     CROSS JOIN LATERAL (
             SELECT w.id, w.destination_id, w.webhook_id, w.engagement_id
               FROM deliveries w
              WHERE w.destination_id = queries.id AND w.due_at IS NOT NULL AND NOT w.parked AND w.attempts > 0
                AND w.engagement_id IS NOT NULL
              LIMIT ${most}) AS d`;
}
