import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { onDemandTypes } from '../../events/catalogue.ts';
import type { DestinationId } from '../../events/subscriptions/destination.ts';
import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { SequenceCursor } from '../../platform/http/paging.ts';
import {
  maxClockSkewMs,
  createdAtOf,
  type DeliveryDetails,
  type DeliveryId,
  type DeliveryRow,
  type DeliveryState,
} from './delivery.ts';
import { isOfSites } from './requeue.ts';
import { maxScanned, walk, type WalkResult } from './walk.ts';

/** A delivery that is replayed again and again is shown with its newest attempts. */
const maxAttempts = 200;

interface DeliveryListQuery {
  readonly webhook: { readonly id: WebhookId; readonly destination_id: DestinationId };
  readonly state: DeliveryState | null;
  readonly eventType: string | null;
  /** Id of the delivery, of its event or of its engagement. */
  readonly matching: string | null;
  /** Range of `occurred_at` of the events. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** Sites of the events; `null`: any. */
  readonly siteIds: readonly SiteId[] | null;
  readonly after: SequenceCursor | null;
  readonly limit: number;
}

const columns = [
  'webhook_id', 'engagement_id', 'event_id', 'event_type', 'state', 'parked', 'next_attempt_at', 'occurred_at',
  'created_at', 'finished_at', 'last_status', 'last_error',
] as const; // prettier-ignore

/** The column has what the delivery is in order with. Of an event on demand that is a ticket, a queue or an operator. */
const engagement = (sql: Sql) =>
  sql`CASE WHEN event_type <> ALL(${[...onDemandTypes]}::text[]) THEN engagement_id END AS engagement_id`;

const waiting = (sql: Sql) => sql`
  id, event_seq, webhook_id, ${engagement(sql)}, event_id, event_type, state, parked, due_at AS next_attempt_at, occurred_at,
  created_at, NULL::timestamptz AS finished_at, NULL::integer AS last_status, NULL::text AS last_error`;

const finished = (sql: Sql) => sql`
  delivery_id AS id, event_seq, webhook_id, ${engagement(sql)}, event_id, event_type, state, false AS parked,
  NULL::timestamptz AS next_attempt_at, occurred_at, created_at, at AS finished_at, status AS last_status,
  error AS last_error`;

/** Waiting and finished deliveries, newest event first. */
export async function listDeliveries(sql: Sql, list: DeliveryListQuery): Promise<WalkResult<DeliveryRow>> {
  const condition = sql`
    webhook_id = ${list.webhook.id}
       AND (${list.state}::text IS NULL OR state = ${list.state})
       AND (${list.eventType}::text IS NULL OR event_type = ${list.eventType})
       AND (${list.matching}::uuid IS NULL OR ${list.matching}::uuid IN (id, event_id, engagement_id))
       AND (${list.since}::timestamptz IS NULL OR occurred_at >= ${list.since})
       AND (${list.until}::timestamptz IS NULL OR occurred_at < ${list.until})
       AND ${list.siteIds === null ? sql`true` : isOfSites(sql, list.siteIds)}`;
  const sources = sourcesOf(sql, list).map((select) => ({ select, condition }));
  const { rows, next } = await walk<DeliveryRow>(sql, { sources, columns, direction: 'down', limit: list.limit });
  return { rows: await withLastAnswers(sql, rows), next };
}

/**
 * Adds the answer to the last attempt to waiting deliveries that have failed, because attempts are stored in the log only.
 * Served by delivery_log_by_delivery, once for each of these rows.
 */
async function withLastAnswers(sql: Sql, rows: readonly DeliveryRow[]): Promise<readonly DeliveryRow[]> {
  const tried = rows.filter(({ state }) => state === 'retrying' || state === 'held').map(({ id }) => id);
  if (tried.length === 0) return rows;
  const since = new Date(Math.min(...tried.map((id) => earliest(createdAtOf(id)).getTime())));
  const found = await sql<Pick<DeliveryRow, 'id' | 'last_status' | 'last_error'>[]>`
    SELECT tried.id, last.status AS last_status, last.error AS last_error
      FROM unnest(${tried}::uuid[]) AS tried (id)
      JOIN LATERAL (SELECT status, error FROM delivery_log
                     WHERE delivery_id = tried.id AND at >= ${since} AND duration_ms IS NOT NULL
                     ORDER BY at DESC
                     LIMIT 1) AS last ON true`;
  const answers = new Map(found.map((answer) => [answer.id, answer]));
  return rows.map((row) => ({ ...row, ...answers.get(row.id) }));
}

/** The sources that may have rows in the state. */
function sourcesOf(sql: Sql, list: DeliveryListQuery): (() => SqlFragment)[] {
  const { webhook, since, after } = list;
  const before = (id: SqlFragment) =>
    after === null ? sql`true` : sql`(event_seq, ${id}) < (${after.seq}::bigint, ${after.id}::uuid)`;
  // The columns that `isOfSites` reads.
  const eventColumns = () => sql`account_id, event_xid, body`;
  // Served by deliveries_fresh: fresh deliveries are found by destination.
  const fresh = () => sql`
    SELECT ${waiting(sql)}, ${eventColumns()}
      FROM deliveries
     WHERE destination_id = ${webhook.destination_id} AND state = 'pending' AND due_at IS NULL AND ${before(sql`id`)}
     ORDER BY event_seq DESC, id DESC
     LIMIT ${maxScanned}`;
  // Served by deliveries_set_aside.
  const setAside = () => sql`
    SELECT ${waiting(sql)}, ${eventColumns()}
      FROM deliveries
     WHERE webhook_id = ${webhook.id} AND (state <> 'pending' OR due_at IS NOT NULL) AND ${before(sql`id`)}
     ORDER BY event_seq DESC, id DESC
     LIMIT ${maxScanned}`;
  // Served by delivery_log_by_webhook or _failed. Partitions of days before the events are not read.
  const logged = (which: SqlFragment) => () => sql`
    SELECT ${finished(sql)}, ${eventColumns()}
      FROM delivery_log
     WHERE webhook_id = ${webhook.id} AND final AND ${which} AND at >= ${earliest(since)} AND ${before(sql`delivery_id`)}
     ORDER BY event_seq DESC, delivery_id DESC
     LIMIT ${maxScanned}`;
  switch (list.state) {
    case null:
      return [fresh, setAside, logged(sql`true`)];
    case 'pending':
      return [fresh, setAside];
    case 'retrying':
    case 'held':
      return [setAside];
    case 'delivered':
      return [logged(sql`true`)];
    case 'exhausted':
    case 'discarded':
      return [logged(sql`state <> 'delivered'`)];
  }
}

const longAgo = new Date('0001-01-01T00:00:00Z');

/** The earliest time of a log row about something that happened at `since`, allowing for clock skew. */
export function earliest(since: Date | null): Date {
  return new Date(Math.max((since ?? longAgo).getTime() - maxClockSkewMs, longAgo.getTime()));
}

/** The delivery, waiting or finished. */
export async function findDelivery(sql: Sql, accountId: AccountId, id: DeliveryId): Promise<DeliveryRow | null> {
  const createdAt = createdAtOf(id);
  if (createdAt === null) return null;
  // One statement, so that a delivery that finishes meanwhile is found once. Served by the primary key and delivery_log_by_delivery.
  const [row] = await sql<DeliveryRow[]>`
    SELECT ${waiting(sql)} FROM deliveries WHERE id = ${id} AND account_id = ${accountId}
     UNION ALL
    SELECT ${finished(sql)} FROM delivery_log
     WHERE delivery_id = ${id} AND account_id = ${accountId} AND final AND at >= ${earliest(createdAt)}
     ORDER BY finished_at DESC NULLS FIRST
     LIMIT 1`;
  return row ?? null;
}

interface DeliveryOfSites {
  readonly accountId: AccountId;
  readonly id: DeliveryId;
  readonly siteIds: readonly SiteId[];
}

/** Whether the event of the delivery is of one of the sites; `false` if the log no longer has the event. */
export async function happenedOn(sql: Sql, { accountId, id, siteIds }: DeliveryOfSites): Promise<boolean> {
  const eventColumns = () => sql`account_id, event_xid, event_seq, occurred_at, body`;
  const [row] = await sql<{ is: boolean }[]>`
    SELECT ${isOfSites(sql, siteIds)} AS is
      FROM (SELECT ${eventColumns()} FROM deliveries WHERE id = ${id} AND account_id = ${accountId}
             UNION ALL
            SELECT ${eventColumns()} FROM delivery_log
             WHERE delivery_id = ${id} AND account_id = ${accountId} AND final AND at >= ${earliest(createdAtOf(id))}
             LIMIT 1) AS d`;
  return row?.is === true;
}

interface StoredDetails extends DeliveryRow {
  readonly payload: object | null;
  readonly attempts: (Omit<DeliveryDetails['attempts'][number], 'at'> & { readonly at: string })[];
}

/** The delivery with its event and attempts, read in one snapshot. */
export async function findDetails(sql: Sql, accountId: AccountId, id: DeliveryId): Promise<StoredDetails | null> {
  const createdAt = createdAtOf(id);
  if (createdAt === null) return null;
  const [row] = await sql<StoredDetails[]>`
    WITH delivery AS (
           SELECT ${waiting(sql)}, account_id, event_xid, body
             FROM deliveries WHERE id = ${id} AND account_id = ${accountId}
            UNION ALL
           SELECT ${finished(sql)}, account_id, event_xid, body
             FROM delivery_log
            WHERE delivery_id = ${id} AND account_id = ${accountId} AND final AND at >= ${earliest(createdAt)}
            ORDER BY finished_at DESC NULLS FIRST
            LIMIT 1),
         newest AS (
           SELECT at, final, state, status, duration_ms, answer, error
             FROM delivery_log
            WHERE delivery_id = ${id} AND account_id = ${accountId} AND at >= ${earliest(createdAt)}
            ORDER BY at DESC, final DESC
            LIMIT ${maxAttempts})
    SELECT d.id, d.event_seq::float8 AS event_seq, ${sql(columns.map((column) => `d.${column}`))},
           coalesce(d.body, (SELECT e.payload FROM events e
                              WHERE e.account_id = d.account_id AND e.xid = d.event_xid AND e.seq = d.event_seq
                                AND e.occurred_at = d.occurred_at)) AS payload,
           coalesce((SELECT json_agg(json_build_object('at', at, 'state', state, 'status', status, 'duration_ms', duration_ms,
                                                       'answer', answer, 'error', error) ORDER BY at, final)
                       FROM newest), '[]') AS attempts
      FROM delivery d`;
  return row ?? null;
}
