import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import { piece, type Piece, type Sql } from '../../platform/database.ts';
import type { Delivery, DeliveryId } from './delivery.ts';
import type { LaneName } from './lanes.ts';
import type { Moment } from './watermark.ts';

export interface DeliveryQuery {
  readonly id: DestinationId;
  /** Fresh ones after that number of the log, and how many. */
  readonly after: number;
  readonly fresh: number;
  /** Of those that were put off and are due. */
  readonly due: number;
  /** Lanes of which nothing fresh is wanted. */
  readonly without: readonly LaneName[];
}

interface ReadMoment extends Moment {
  /** Of the epoch of the log; `null`: none is in force. */
  readonly tag: string | null;
}

export interface ReadRows {
  readonly moment: ReadMoment;
  readonly deliveries: readonly Delivery[];
}

/**
 * The id that the next transaction will get. `age` counts from a transaction to PostgreSQL's counter of them, which gives
 * out no id of its own to this one as `pg_current_xact_id()` would.
 */
const nextXid = piece(
  (sql) => sql`
           pg_snapshot_xmax(pg_current_snapshot())::text::float8 + age(pg_snapshot_xmax(pg_current_snapshot())::xid)`,
);

/** What stands for its destination is its place among those that were asked for: ids would be most of what is read. */
type ReadRow = Omit<Delivery, 'destinationId'> & { readonly which: number };

/** What is to be sent to these destinations, with what is to be sent: fresh ones in the order of the log. */
export async function readDeliveries(sql: Sql, wanted: readonly DeliveryQuery[]): Promise<ReadRows> {
  const rows = await sql<((ReadRow | { readonly id: null }) & ReadMoment)[]>`
    WITH wanted AS (
           SELECT *
             FROM unnest(${wanted.map(({ id }) => id)}::uuid[], ${wanted.map(({ after }) => after)}::bigint[],
                         ${wanted.map(({ fresh }) => fresh)}::integer[], ${wanted.map(({ due }) => due)}::integer[])
                  WITH ORDINALITY AS w (id, after, fresh, due, ordinal)),
         found AS (
           SELECT waiting.*, wanted.ordinal - 1 AS which, row_number() OVER () AS place
             FROM wanted
            CROSS JOIN LATERAL (
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = wanted.id AND d.due_at <= now() AND (d.state = 'retrying' OR d.parked)
                      ORDER BY d.due_at, d.event_seq
                      LIMIT wanted.due)
                    UNION ALL
                    -- What was recovered. It waits in its lane as what is fresh does, and must not stand before what failed.
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = wanted.id AND d.due_at <= now() AND d.state = 'pending'
                        AND NOT d.parked ${without(sql, wanted)}
                      ORDER BY d.due_at, d.event_seq
                      LIMIT wanted.due)
                    UNION ALL
                    (SELECT d.*
                       FROM deliveries d
                      WHERE d.destination_id = wanted.id AND d.state = 'pending' AND d.due_at IS NULL
                        AND d.event_seq > wanted.after ${without(sql, wanted)}
                      ORDER BY d.event_seq
                      LIMIT wanted.fresh)) AS waiting)
    SELECT f.id, f.which::integer AS which, f.webhook_id AS "webhookId", f.engagement_id AS "engagementId",
           f.event_id AS "eventId", f.event_seq::float8 AS seq, f.event_type AS type, f.attempts, f.parked,
           f.due_at IS NOT NULL AS "putOff", f.created_at AS "createdAt", e.site_id AS "siteId",
           coalesce(f.body::text, e.payload::text) AS payload,
           -- With the first row is enough.
           CASE WHEN f.place > 1 THEN NULL ELSE (SELECT tag FROM log_epoch_in_force) END AS tag,
           CASE WHEN f.place > 1 THEN NULL ELSE pg_snapshot_xmin(pg_current_snapshot())::text::float8 END AS xmin,
           CASE WHEN f.place > 1 THEN NULL ELSE ${nextXid(sql)} END AS "nextXid",
           CASE WHEN f.place > 1 THEN NULL ELSE (SELECT last_value::float8 FROM events_seq_seq) END AS "lastSeq"
      FROM (SELECT) AS moment
      LEFT JOIN found f ON true
      LEFT JOIN LATERAL (${payloadOf(sql)}) AS e ON true`;
  const [first] = rows;
  if (first === undefined) throw new Error('a read without a moment');
  const deliveries: Delivery[] = [];
  for (const row of rows) {
    // Without a delivery the row is there for the moment alone.
    const destination = row.id === null ? undefined : wanted[row.which];
    if (row.id !== null && destination !== undefined) deliveries.push({ ...row, destinationId: destination.id });
  }
  return { moment: first, deliveries };
}

/** What waits behind one that failed would be read, and let go, again and again; there may be a hundred thousand of it. */
function without(sql: Sql, wanted: readonly DeliveryQuery[]): Piece {
  const lanes = wanted.flatMap((each) => each.without);
  if (lanes.length === 0) return nothing(sql);
  return sql`
                        AND (d.engagement_id IS NULL OR (d.webhook_id, d.engagement_id) NOT IN (
                               SELECT s.webhook_id, s.engagement_id
                                 FROM unnest(${lanes.map(({ webhookId }) => webhookId)}::uuid[],
                                             ${lanes.map(({ engagementId }) => engagementId)}::uuid[])
                                      AS s (webhook_id, engagement_id)))`;
}

const nothing = piece((sql) => sql``);

/** So many are read of a lane at once. */
export const laneBatch = 200;

/**
 * The next of one engagement for one webhook: what is fresh or was recovered, from the beginning. There is no index for it,
 * as every delivery would pay for that; it looks through what is fresh for the destination.
 */
export async function readLane(sql: Sql, destinationId: DestinationId, lane: LaneName): Promise<readonly Delivery[]> {
  return sql<Delivery[]>`
    SELECT f.id, f.destination_id AS "destinationId", f.webhook_id AS "webhookId", f.engagement_id AS "engagementId",
           f.event_id AS "eventId", f.event_seq::float8 AS seq, f.event_type AS type, f.attempts, f.parked,
           f.due_at IS NOT NULL AS "putOff", f.created_at AS "createdAt", e.site_id AS "siteId",
           coalesce(f.body::text, e.payload::text) AS payload
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
const payloadOf = piece(
  (sql) => sql`
             SELECT e.payload, e.site_id
               FROM events e
              WHERE e.account_id = f.account_id AND e.xid = f.event_xid AND e.seq = f.event_seq
                AND e.occurred_at = f.occurred_at
              LIMIT 1`,
);

/** Where these webhooks are called. */
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

/** The heads of blocked lanes: deliveries that have failed, and that others of their engagements wait for. */
export async function readBlockedLanes(sql: Sql, ids: readonly DestinationId[], most: number): Promise<BlockedLane[]> {
  return sql<BlockedLane[]>`
    SELECT d.id, d.destination_id AS "destinationId", d.webhook_id AS "webhookId", d.engagement_id AS "engagementId"
      FROM unnest(${[...ids]}::uuid[]) AS wanted (id)
     CROSS JOIN LATERAL (
             SELECT w.id, w.destination_id, w.webhook_id, w.engagement_id
               FROM deliveries w
              WHERE w.destination_id = wanted.id AND w.due_at IS NOT NULL AND NOT w.parked AND w.attempts > 0
                AND w.engagement_id IS NOT NULL
              LIMIT ${most}) AS d`;
}
