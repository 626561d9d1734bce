import type Type from 'typebox';
import { piece, type Piece, type Sql } from '../platform/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import type { EventFields, EventType } from './catalogue.ts';
import { keepSecret, type EventSecret } from './event-secrets.ts';
import { makeEvent } from './make-event.ts';
import { isAttachersSite, isCovered, otherStatus } from './subscribers.ts';

/**
 * The one door to the log. Whoever changes something appends its events in the same transaction; an event of an engagement is
 * appended under that engagement's row lock, so that `seq` is the order in which its events happened. The statement that
 * appends events also adds a delivery for each webhook that subscribes them.
 */

/** Whom an event is about, as far as it is about somebody: that decides who is sent it and who sees it. */
export interface About {
  readonly siteId?: string | null;
  readonly ticketId?: string | null;
  readonly requestId?: string | null;
  readonly engagementId?: string | null;
  readonly visitorId?: string | null;
  readonly operatorId?: string | null;
  /** Attached webhooks that may be sent it; of an engagement those it names, while it goes on. */
  readonly subscribers?: readonly string[];
}

const columns = piece(
  (sql) => sql`
    account_id, id, type, site_id, ticket_id, request_id, engagement_id, visitor_id, operator_id, occurred_at, payload`,
);

/**
 * Appends what `events` selects, with its columns named as the log names them. Used by itself it makes no deliveries: that is for items
 * of the live feed alone.
 */
export function insertEvents(sql: Sql, events: Piece): Piece {
  return sql`
    INSERT INTO events (${columns(sql)})
    SELECT ${columns(sql)} FROM (${events}) AS e
    RETURNING account_id, id, seq, xid, type, site_id, engagement_id, occurred_at`;
}

/**
 * Two parts of a statement, `appended` and `fanned_out`: the events, and their deliveries. `attached` says which attached webhooks
 * (D8.1) may be sent them; `null`: none. It is a relation `h` of `heard_by`, ids of webhooks, and `sender`, who sent the message that the event is of, with the
 * condition that joins it to the event `t`.
 */
export function appendEvents(sql: Sql, events: Piece, attached: Piece | null): Piece {
  return sql`
         appended AS (${insertEvents(sql, events)}),
         fanned_out AS (
           INSERT INTO deliveries (account_id, webhook_id, destination_id, engagement_id, event_id, event_seq, event_xid,
                                   occurred_at, event_type, state)
           ${toRegistered(sql)}
           ${attached === null ? nothing(sql) : toAttached(sql, attached)})`;
}

const nothing = piece((sql) => sql``);

/** A delivery of the event `t` by the webhook `w`: in the spelling it subscribed, and held while it is disabled. */
const delivery = piece(
  (sql) => sql`
           SELECT t.account_id, w.id, w.destination_id, CASE w.ordering WHEN 'engagement' THEN t.engagement_id END, t.id, t.seq,
                  t.xid, t.occurred_at, CASE WHEN t.type = ANY(w.events) THEN t.type ELSE ${sql.unsafe(`'${otherStatus}'`)} END,
                  CASE WHEN w.enabled THEN 'pending' ELSE 'held' END
             FROM appended t`,
);

const toRegistered = piece(
  (sql) => sql`
           ${delivery(sql)}
             JOIN webhooks w ON w.account_id = t.account_id AND w.side IS NULL AND w.deleted_at IS NULL
            WHERE t.type = ANY(w.hears) AND ${isCovered(sql, sql`t.site_id`)}`,
);

/**
 * D8.2: a webhook is sent the messages of the side that attached it, of the other side, or of both, as its `messages` says. With `own`
 * and `other` it is sent the status of its own side's messages. What the system says to the operator is not sent to the visitor's webhooks.
 */
function toAttached(sql: Sql, attached: Piece): Piece {
  return sql`
           UNION ALL
           ${delivery(sql)}
             JOIN ${attached}
             JOIN webhooks w ON w.id = ANY(h.heard_by)
            WHERE w.account_id = t.account_id AND w.side IS NOT NULL AND t.type = ANY(w.hears)
              AND CASE t.type
                    WHEN 'engagement.chat.system_message' THEN w.side = 'operator'
                    WHEN 'engagement.chat.message' THEN
                      CASE w.messages WHEN 'own' THEN w.side = h.sender WHEN 'other' THEN w.side <> h.sender ELSE true END
                    WHEN 'engagement.chat.message_status' THEN w.messages = 'all' OR w.side = h.sender
                    ELSE true
                  END
              AND ${isSiteOfAttacher(sql)}`;
}

const isSiteOfAttacher = piece((sql) => isAttachersSite(sql, sql`t.site_id`));

/** An event that has yet to be made. */
export interface NewEvent<T extends EventType> {
  readonly id: string;
  readonly type: T;
  readonly about: About;
  readonly fields: EventFields<T>;
}

/** Events as JSON, one text whatever their number; and the attached webhooks of those that have some. */
export interface EventRows {
  readonly events: string;
  readonly attached: string | null;
}

/** Each is checked against its schema: one that does not fit the catalogue is not written, nor is what caused it. */
export function eventRows(events: readonly NewEvent<EventType>[], at: Date): EventRows {
  const attached = events.filter(({ about }) => (about.subscribers ?? []).length > 0);
  return {
    events: JSON.stringify(
      events.map(({ id, type, about, fields }) => rowOf(id, type, about, makeEvent(type, { id, at }, fields))),
    ),
    attached: attached.length === 0 ? null : JSON.stringify(attached.map(attachedRow)),
  };
}

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

function attachedRow({ id, about, fields }: NewEvent<EventType>) {
  return { event_id: id, heard_by: about.subscribers, sender: 'message' in fields ? fields.message.sender.type : null };
}

interface When {
  readonly accountId: AccountId;
  readonly at: Date;
}

/** The parts of a statement that append rows, once `condition` is true. */
export function appendRows(
  sql: Sql,
  { accountId, at }: When,
  { events, attached }: EventRows,
  condition: Piece,
): Piece {
  return appendEvents(
    sql,
    sql`${selectRows(sql, { accountId, at }, events)} WHERE ${condition}`,
    attached === null
      ? null
      : sql`json_to_recordset(${attached}::text::json) AS h (event_id uuid, heard_by uuid[], sender text) ON h.event_id = t.id`,
  );
}

function selectRows(sql: Sql, { accountId, at }: When, rows: string): Piece {
  return sql`
           SELECT ${accountId}::uuid AS account_id, ${at}::timestamptz AS occurred_at, r.*
             FROM json_to_recordset(${rows}::text::json) AS r (
                    id uuid, type text, site_id uuid, ticket_id uuid, request_id uuid, engagement_id uuid, visitor_id uuid,
                    operator_id uuid, payload json)`;
}

interface SingleEvent<T extends EventType> extends Omit<NewEvent<T>, 'id'> {
  readonly accountId: AccountId;
  readonly at?: Date;
  /** What the log must not hold. The fields leave it empty. */
  readonly secret?: EventSecret;
}

/** Appends an event in the transaction of the change that it tells of. */
export async function appendEvent<T extends EventType>(sql: Sql, event: SingleEvent<T>): Promise<void> {
  const { accountId, at = new Date(), secret } = event;
  const id = newId<string>();
  const rows = eventRows([{ ...event, id }], at);
  await sql`WITH ${appendRows(sql, { accountId, at }, rows, sql`true`)} SELECT 1`;
  if (secret !== undefined) await keepSecret(sql, { accountId, eventId: id, secret });
}

/** An item that the live feed shows and no webhook is sent. The room that appends it declares it; `feed/catalogue.ts` lists all. */
export interface FeedItem<Fields extends Type.TProperties> {
  readonly type: string;
  readonly schema: Type.TObject<Fields>;
}

interface NewItem<Fields extends Type.TProperties> extends When {
  readonly about: About;
  /** More fields than the schema has may be given, and are left out. */
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
