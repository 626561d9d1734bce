import type Type from 'typebox';
import { fragment, type SqlFragment, type Sql } from '../platform/database/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import { currentTrace } from '../platform/watching/trace.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import type { EventFields, EventType, OnDemandType, WebhookEventType } from './catalogue.ts';
import { keepSecret, type EventSecret } from './event-secrets.ts';
import { makeEvent } from './make-event.ts';
import { attacherSeesSite, isCovered, isFiltered, otherStatus, passesFilter } from './subscriptions/subscribers.ts';

/**
 * Appends events to the log: the only code that does. An event is appended in the transaction of the change it reports; an
 * event of an engagement also under that engagement's row lock, so that `seq` is the order in which its events happened. The
 * statement that appends events also fans them out: it inserts one delivery per subscribed webhook.
 */

/** Whom and what an event is about. This decides which webhooks are sent the event and who sees it on the live feed. */
export interface About {
  readonly siteId?: string | null;
  readonly ticketId?: string | null;
  readonly requestId?: string | null;
  readonly engagementId?: string | null;
  readonly visitorId?: string | null;
  readonly operatorId?: string | null;
  /** Attached webhooks that may be sent the event. For an event of an engagement: those of the engagement, until it ends. */
  readonly subscribers?: readonly string[];
}

const columns = fragment(
  (sql) => sql`
    account_id, id, type, site_id, ticket_id, request_id, engagement_id, visitor_id, operator_id, occurred_at, payload`,
);

/**
 * Appends the rows that `events` selects; its columns have the names of the log's columns. No deliveries are inserted, so
 * only items of the live feed are appended with this function.
 */
export function insertEvents(sql: Sql, events: SqlFragment): SqlFragment {
  return sql`
    INSERT INTO events (${columns(sql)}, xid)
    SELECT ${columns(sql)}, ${position(sql)} FROM (${events}) AS e`;
}

/** The same for all events of a transaction. The subquery asks for it once, and only if there is an event. */
const position = fragment((sql) => sql`(SELECT current_log_position())`);

interface RowOptions {
  /**
   * The rows also have `heard_by`, the ids of the attached webhooks (D8.1) that may be sent the event, and `sender`, the side that
   * sent the message if the event is about a message. Both may be null.
   */
  readonly hasAttached: boolean;
}

/**
 * Three CTEs: those of `placeEvents`, and `fanned_out`, which inserts the deliveries of the events. The rows of `events` also have the
 * trace of the request, `traceparent` and `tracestate`, which may be null.
 */
export function appendEvents(sql: Sql, events: SqlFragment, { hasAttached }: RowOptions): SqlFragment {
  return sql`
         ${placeEvents(sql, events, traceColumns(sql))},
         fanned_out AS (
           ${insertDeliveries(sql, sql`${toRegistered(sql)} ${hasAttached ? toAttached(sql) : nothing(sql)}`)})`;
}

/**
 * Two CTEs: `placed` has the rows that `events` selects, with their places in the log, and `appended` inserts them. Deliveries are
 * made from `placed`. If they were made from the rows that were inserted, each row would have to be looked for among all others to
 * find what is not stored with the event, such as its attached webhooks.
 *
 * An event is given its number like one that is inserted without a number: after its transaction has an id.
 */
function placeEvents(sql: Sql, events: SqlFragment, trace = nothing(sql)): SqlFragment {
  return sql`
         placed AS MATERIALIZED (
           SELECT e.*, CASE WHEN pg_current_xact_id() IS NOT NULL THEN nextval('events_seq_seq') END AS seq, ${position(sql)} AS xid,
                  CASE WHEN ${isFiltered(sql)} THEN e.payload::jsonb END AS fields
             FROM (${events}) AS e),
         appended AS (
           INSERT INTO events (${columns(sql)}, seq, xid ${trace})
           SELECT ${columns(sql)}, seq, xid ${trace} FROM placed)`;
}

function insertDeliveries(sql: Sql, rows: SqlFragment): SqlFragment {
  return sql`
           INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                                   occurred_at, event_type, state)
           ${rows}`;
}

const nothing = fragment((sql) => sql``);
const traceColumns = fragment((sql) => sql`, traceparent, tracestate`);

/** A delivery of the event `t` to the webhook `w`, in the spelling that the webhook subscribed; held if the webhook is disabled. */
const delivery = fragment((sql) => deliveryInLane(sql, sql`t.engagement_id`));

/** The same, in order with the other deliveries to the webhook that have the same `lane`. */
function deliveryInLane(sql: Sql, lane: SqlFragment): SqlFragment {
  return sql`
           SELECT t.account_id, w.id, w.destination_id, CASE w.ordering WHEN 'engagement' THEN ${lane} END, t.id, t.seq,
                  t.xid, t.occurred_at, CASE WHEN t.type = ANY(w.events) THEN t.type ELSE ${sql.unsafe(`'${otherStatus}'`)} END,
                  CASE WHEN w.enabled THEN 'pending' ELSE 'held' END
             FROM placed t`;
}

/**
 * The webhooks are read by an index for each event. `OFFSET 0` keeps the planner from joining them in another order: with outdated
 * statistics it would read all webhooks. Served by webhooks_registered.
 */
const toRegistered = fragment(
  (sql) => sql`
           ${delivery(sql)}
            CROSS JOIN LATERAL (SELECT * FROM webhooks
                                 WHERE account_id = t.account_id AND side IS NULL AND deleted_at IS NULL
                                OFFSET 0) AS w
            WHERE t.type = ANY(w.hears) AND ${isCovered(sql, sql`t.site_id`)} AND ${passesFilter(sql)}`,
);

/**
 * D8.2: `messages` of a webhook selects the messages of the side that attached it, of the other side, or of both. With `own`
 * and `other` a webhook is sent the status of its own side's messages. System messages go to the operator, so the visitor's
 * webhooks are not sent them. Served by the primary key of webhooks.
 */
const toAttached = fragment(
  (sql) => sql`
           UNION ALL
           ${delivery(sql)}
            CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE id = ANY(t.heard_by) OFFSET 0) AS w
            WHERE t.heard_by <> '{}' AND w.account_id = t.account_id AND w.side IS NOT NULL AND t.type = ANY(w.hears)
              AND CASE t.type
                    WHEN 'engagement.chat.system_message' THEN w.side = 'operator'
                    WHEN 'engagement.chat.message' THEN
                      CASE w.messages WHEN 'own' THEN w.side = t.sender WHEN 'other' THEN w.side <> t.sender ELSE true END
                    WHEN 'engagement.chat.message_status' THEN w.messages = 'all' OR w.side = t.sender
                    ELSE true
                  END
              AND ${attacherSeesEventSite(sql)}`,
);

const attacherSeesEventSite = fragment((sql) => attacherSeesSite(sql, sql`t.site_id`));

/** An event before `makeEvent` has checked it. */
export interface NewEvent<T extends EventType> {
  readonly id: string;
  readonly type: T;
  readonly about: About;
  readonly fields: EventFields<T>;
}

/** The trace of the request that caused an event, by the id of the event. */
export type Traces = ReadonlyMap<string, TraceContext>;

/** Events as a JSON array of rows. */
export interface EventRows {
  readonly rows: string;
  /** An event has attached webhooks. */
  readonly hasAttached: boolean;
}

/** Checks each event against its schema. An event that does not fit throws, which rolls back the change it reports. */
export function eventRows(events: readonly NewEvent<EventType>[], at: Date, traces: Traces = untraced): EventRows {
  return {
    rows: JSON.stringify(
      events.map(({ id, type, about, fields }) => ({
        ...rowOf(id, type, about, makeEvent(type, { id, at }, fields)),
        ...attachedTo(about, fields),
        traceparent: traces.get(id)?.traceparent,
        tracestate: traces.get(id)?.tracestate,
      })),
    ),
    hasAttached: events.some(({ about }) => hasSubscribers(about)),
  };
}

const untraced: Traces = new Map();

function rowOf(id: string, type: string, about: About, payload: unknown) {
  return {
    id,
    type,
    site_id: about.siteId,
    ticket_id: about.ticketId,
    request_id: about.requestId,
    engagement_id: about.engagementId,
    visitor_id: about.visitorId,
    operator_id: about.operatorId,
    payload,
  };
}

function hasSubscribers({ subscribers = [] }: About): boolean {
  return subscribers.length > 0;
}

function attachedTo(about: About, fields: EventFields<EventType>) {
  if (!hasSubscribers(about)) return {};
  return { heard_by: about.subscribers, sender: 'message' in fields ? fields.message.sender.type : null };
}

interface AppendContext {
  readonly accountId: AccountId;
  readonly at: Date;
}

/** The CTEs of `appendEvents` for these rows. Nothing is appended unless `condition` is true. */
export function appendRows(
  sql: Sql,
  context: AppendContext,
  { rows, hasAttached }: EventRows,
  condition: SqlFragment,
): SqlFragment {
  const trace = sql`, traceparent text, tracestate text`;
  const more = hasAttached ? sql`${trace}, heard_by uuid[], sender text` : trace;
  const events = sql`${selectRows(sql, context, rows, more)} WHERE ${condition}`;
  return appendEvents(sql, events, { hasAttached });
}

/** Selects the rows of a JSON array, which have the columns of the log and `more` columns. */
function selectRows(sql: Sql, { accountId, at }: AppendContext, rows: string, more = nothing(sql)): SqlFragment {
  return sql`
           SELECT ${accountId}::uuid AS account_id, ${at}::timestamptz AS occurred_at, r.*
             FROM json_to_recordset(${rows}::text::json) AS r (
                    id uuid, type text, site_id uuid, ticket_id uuid, request_id uuid, engagement_id uuid, visitor_id uuid,
                    operator_id uuid, payload json ${more})`;
}

interface WebhookEvent<T extends WebhookEventType> {
  readonly accountId: AccountId;
  readonly type: T;
  readonly fields: EventFields<T>;
}

/**
 * Appends an event about a webhook, in the transaction of the change that it reports. The webhook itself is not sent it: a webhook
 * that fails would report its own failure, and that would fail. The others are sent it if their registrar may see the webhook.
 */
export async function appendWebhookEvent<T extends WebhookEventType>(
  sql: Sql,
  { accountId, type, fields }: WebhookEvent<T>,
): Promise<void> {
  const at = new Date();
  const { rows } = eventRows([{ id: newId(), type, about: {}, fields }], at);
  const { id, site_ids: siteIds, registered_by: registrar } = fields.webhook;
  await sql`
    WITH ${placeEvents(sql, selectRows(sql, { accountId, at }, rows))}
    ${insertDeliveries(
      sql,
      sql`${delivery(sql)}
            CROSS JOIN LATERAL (SELECT * FROM webhooks
                                 WHERE account_id = t.account_id AND side IS NULL AND deleted_at IS NULL
                                OFFSET 0) AS w
            WHERE t.type = ANY(w.hears) AND w.id <> ${id}
              AND (w.covers IS NULL OR w.covers @> ${[...siteIds]}::uuid[] OR w.registered_by = ${registrar})
              AND ${passesFilter(sql)}`,
    )}`;
}

/** An event on demand, about one subject: a ticket, a queue or an operator. */
export interface SubjectEvent extends NewEvent<OnDemandType> {
  /** The id of the subject. A webhook with `ordering` is sent the events of a subject in order, like those of an engagement. */
  readonly subject: string;
  /** The sites of the subject. A webhook that covers one of them is sent the event. */
  readonly siteIds: readonly string[];
}

/** Appends events on demand, in the transaction of the change that they report and under the lock of the account. */
export async function appendSubjectEvents(
  sql: Sql,
  context: AppendContext,
  events: readonly SubjectEvent[],
): Promise<void> {
  const rows = JSON.stringify(
    events.map(({ id, type, about, fields, subject, siteIds }) => ({
      ...rowOf(id, type, about, makeEvent(type, { id, at: context.at }, fields)),
      subject,
      site_ids: siteIds,
    })),
  );
  await sql`
    WITH ${placeEvents(sql, selectRows(sql, context, rows, sql`, subject uuid, site_ids uuid[]`))}
    ${insertDeliveries(
      sql,
      sql`${deliveryInLane(sql, sql`t.subject`)}
            CROSS JOIN LATERAL (SELECT * FROM webhooks
                                 WHERE account_id = t.account_id AND side IS NULL AND deleted_at IS NULL
                                OFFSET 0) AS w
            WHERE t.type = ANY(w.hears) AND (w.covers IS NULL OR w.covers && t.site_ids)
              AND ${passesFilter(sql)}`,
    )}`;
}

interface SingleEvent<T extends EventType> extends Omit<NewEvent<T>, 'id'> {
  readonly accountId: AccountId;
  readonly at?: Date;
  /** Values that must not be stored in the log. `fields` has empty strings in their place. */
  readonly secret?: EventSecret;
}

/** Appends an event, in the transaction of the change that it reports. */
export async function appendEvent<T extends EventType>(sql: Sql, event: SingleEvent<T>): Promise<void> {
  const { accountId, at = new Date(), secret } = event;
  const id = newId<string>();
  const trace = currentTrace();
  const rows = eventRows([{ ...event, id }], at, trace === null ? undefined : new Map([[id, trace]]));
  await sql`WITH ${appendRows(sql, { accountId, at }, rows, sql`true`)} SELECT 1`;
  if (secret !== undefined) await keepSecret(sql, { accountId, eventId: id, secret });
}

/** An item for the live feed, sent to no webhook. The room that appends it declares it, and `feed/catalogue.ts` lists it. */
export interface FeedItem<Fields extends Type.TProperties> {
  readonly type: string;
  readonly schema: Type.TObject<Fields>;
}

interface NewItem<Fields extends Type.TProperties> extends AppendContext {
  readonly about: About;
  /** Fields that the schema does not have are left out. */
  readonly data: Type.Static<Type.TObject<Fields>>;
}

/** Appends an item for the live feed, in the transaction of the change. */
export async function appendFeedItem<Fields extends Type.TProperties>(
  sql: Sql,
  { type, schema }: FeedItem<Fields>,
  { accountId, at, about, data }: NewItem<Fields>,
): Promise<void> {
  const shown = Object.fromEntries(Object.keys(schema.properties).map((field) => [field, Reflect.get(data, field)]));
  const rows = JSON.stringify([rowOf(newId(), type, about, shown)]);
  await insertEvents(sql, selectRows(sql, { accountId, at }, rows));
}
