import { appendEvents } from '../../events/append.ts';
import { payloadSql } from '../../events/payload-sql.ts';
import { piece, type Sql } from '../../platform/database.ts';
import type { EngagementId } from '../../platform/ids.ts';
import type { TraceContext } from '../../platform/trace-context.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { smsOfMessages } from '../sms/sms-of-message.ts';
import { lockTogether, partyColumns } from '../taking-part.ts';
import { arrangeAttachment, type MessageRow } from './message.ts';
import { columns, type Acknowledgement, type NewMessage } from './store.ts';

/** A message of one of the two sides. */
export interface ChatMessage extends NewMessage {
  readonly id: MessageRow['id'];
  readonly from: Party;
  /** The trace of the request. */
  readonly trace?: TraceContext | null;
}

/** A message that a batch can write: whether it is refused depends on no file and no offered option. */
export interface BatchedMessage extends ChatMessage {
  readonly chosen: null;
  readonly files: null;
}

export function isBatched(message: ChatMessage): message is BatchedMessage {
  return message.chosen === null && message.files === null;
}

/** Fields of a message's events, mapped to columns of the statements below. */
const messageFields = {
  id: 'id',
  engagement_id: 'engagement_id',
  sub_engagement_id: 'sub_engagement_id',
  content: 'content',
  sender: { type: 'sender_type' },
  target: 'target',
};

interface Appended {
  readonly type: string;
  readonly at: string;
  readonly payload: string;
  /** The expression of a column of the request's trace; `null`: no request has a trace. */
  readonly trace?: ((column: string) => string) | null;
}

/** The part of a statement that appends an event for each row of `from`. */
function appending(from: string, { type, at, payload, trace = null }: Appended) {
  return piece((sql) =>
    appendEvents(
      sql,
      sql.unsafe(`
           SELECT account_id, event_id AS id, '${type}' AS type, site_id, ticket_id, request_id, engagement_id, visitor_id,
                  operator_id, ${at} AS occurred_at, ${payload} AS payload, heard_by,
                  sender_type AS sender${trace === null ? '' : `, ${trace('traceparent')}, ${trace('tracestate')}`}
             FROM ${from} WHERE type = 'chat'`),
      { hasAttached: true, isTraced: trace !== null },
    ),
  );
}

function appendingSent(trace: ((column: string) => string) | null) {
  const type = 'engagement.chat.message';
  const message = { ...messageFields, timestamp: 'created_at', attachment: 'attachment' };
  const at = 'created_at';
  const payload = payloadSql(type, { id: 'event_id', at }, { message, undelivered_messages: 'undelivered' });
  return appending('counted', { type, at, payload, trace });
}

const appendSent = appendingSent(null);
const appendTraced = appendingSent(
  (column) => `(SELECT w.${column} FROM engaged w WHERE w.engagement_id = counted.engagement_id) AS ${column}`,
);

const texted = piece(
  (sql) => sql`texted AS (${smsOfMessages(sql, sql`(SELECT * FROM counted WHERE target = 'visitor') AS m`)})`,
);

/**
 * Writes chat messages and their events in one statement, at most one message per engagement. Those that are not in the result were
 * not written: the engagement is locked by another transaction, the message is refused, or its id exists. `putMessage` decides which.
 *
 *   engaged  locks the engagements (`lockTogether`). All other parts depend on these locks, so the order of events and the counts
 *            are exact. Others insert messages only under the same locks, so the statement waits for nobody.
 *   sent     skips an id that exists, also if it was committed after the statement began: the unique index is asked.
 *   counted  raises the count of the target's undelivered messages, for stored messages only.
 */
export async function putMessages(
  sql: Sql,
  messages: readonly BatchedMessage[],
): Promise<ReadonlyMap<EngagementId, MessageRow>> {
  // Few batches have a trace, and the others have nothing to look up.
  const isTraced = messages.some(({ trace = null }) => trace !== null);
  const rows = await sql<StoredRow[]>`
    WITH ${lockTogether(sql, messages.map(inputRow), isTraced ? tracedColumns(sql) : messageColumns(sql))},
         sent AS (
           INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target,
                                      type, content, attachment, metadata, status, created_at)
           SELECT account_id, engagement_id, sub_engagement_id, id, party, party_id, target, 'chat', content, attachment::json,
                  metadata::json, 'sent', date_trunc('milliseconds', clock_timestamp())
             FROM engaged
           ON CONFLICT (engagement_id, id) DO NOTHING
           RETURNING account_id, engagement_id, sub_engagement_id, id, sender_type, target, type, content, attachment, created_at),
         counted AS (
           UPDATE engagements e
              SET undelivered_to_visitor = undelivered_to_visitor + (s.target = 'visitor')::integer,
                  undelivered_to_operator = undelivered_to_operator + (s.target = 'operator')::integer
             FROM sent s
            WHERE e.id = s.engagement_id
           RETURNING s.*, e.site_id, e.visitor_id, e.operator_id, e.ticket_id, e.request_id, e.heard_by,
                     gen_random_uuid() AS event_id,
                     CASE s.target WHEN 'visitor' THEN undelivered_to_visitor ELSE undelivered_to_operator END > 1 AS undelivered),
         ${isTraced ? appendTraced(sql) : appendSent(sql)},
         ${texted(sql)}
    SELECT engagement_id AS "engagementId", sub_engagement_id AS "subEngagementId", created_at AS at FROM counted`;
  const byEngagement = new Map(messages.map((message) => [message.engagementId, message]));
  const results = new Map<EngagementId, MessageRow>();
  for (const row of rows) {
    const message = byEngagement.get(row.engagementId);
    if (message !== undefined) results.set(row.engagementId, storedMessage(message, row));
  }
  return results;
}

interface StoredRow {
  readonly engagementId: EngagementId;
  readonly subEngagementId: MessageRow['sub_engagement_id'];
  readonly at: Date;
}

const messageColumns = piece((sql) => sql`id uuid, target text, content text, attachment text, metadata text`);

const tracedColumns = piece((sql) => sql`${messageColumns(sql)}, traceparent text, tracestate text`);

const targetOf = { visitor: 'operator', operator: 'visitor' } as const;

/**
 * Attachment and metadata are text inside the JSON, so that they are stored as they are written here, escapes included. There is no
 * spread in this literal, because V8 would add each property after it one by one.
 */
function inputRow(message: BatchedMessage) {
  const { accountId, engagementId, id, from, content, attachment, metadata, trace } = message;
  const { party, party_id, only_on } = partyColumns(from);
  return {
    account_id: accountId,
    engagement_id: engagementId,
    id,
    party,
    party_id,
    only_on,
    target: targetOf[from.kind],
    content,
    attachment: attachment === null ? null : JSON.stringify(arrangeAttachment(attachment)),
    metadata: metadata === null ? null : JSON.stringify(metadata),
    traceparent: trace?.traceparent,
    tracestate: trace?.tracestate ?? undefined,
  };
}

function storedMessage(
  { accountId, engagementId, id, from, content, attachment, metadata }: BatchedMessage,
  { subEngagementId, at }: StoredRow,
): MessageRow {
  return {
    account_id: accountId,
    id,
    engagement_id: engagementId,
    sub_engagement_id: subEngagementId,
    timestamp: at,
    content,
    status: 'sent',
    sender: { type: from.kind, id: from.id },
    target: targetOf[from.kind],
    type: 'chat',
    attachment: arrangeAttachment(attachment) as MessageRow['attachment'],
    metadata: metadata as MessageRow['metadata'],
    created_at: at,
    updated_at: at,
  };
}

/** An acknowledgement by the side that the message was sent to. */
export interface BatchedAcknowledgement extends Acknowledgement {
  readonly by: Party;
}

/** Files are in the message's event, not in its status event. */
function appendingStatus() {
  const type = 'engagement.chat.message_status';
  const attachment = "CASE WHEN attachment ->> 'type' <> 'files' THEN attachment END";
  const message = { ...messageFields, timestamp: 'timestamp', attachment };
  const at = 'updated_at';
  return appending('delivered', { type, at, payload: payloadSql(type, { id: 'event_id', at }, { message }) });
}

const appendDelivered = appendingStatus();

/**
 * Marks messages as delivered and appends their status events in one statement, at most one message per engagement. Those that are
 * not in the result were not marked: `acknowledgeMessage` decides why. Delivering a system message appends no event.
 */
export async function acknowledgeMessages(
  sql: Sql,
  acknowledgements: readonly BatchedAcknowledgement[],
): Promise<ReadonlyMap<EngagementId, MessageRow>> {
  const rows = await sql<MessageRow[]>`
    WITH ${lockTogether(sql, acknowledgements.map(acknowledgementRow), acknowledgementColumns(sql))},
         delivered AS (
           UPDATE chat_messages
              SET status = 'delivered', delivered_at = date_trunc('milliseconds', clock_timestamp())
             FROM (SELECT engagement_id AS engaged_id, message_id, party, site_id, visitor_id, operator_id, ticket_id, request_id,
                          heard_by, gen_random_uuid() AS event_id
                     FROM engaged) AS w
            WHERE engagement_id = engaged_id AND id = message_id AND target = party AND status = 'sent'
           RETURNING ${columns(sql)}, sender_type, site_id, visitor_id, operator_id, ticket_id, request_id, heard_by, event_id),
         counted AS (
           UPDATE engagements e
              SET undelivered_to_visitor = undelivered_to_visitor - (d.target = 'visitor')::integer,
                  undelivered_to_operator = undelivered_to_operator - (d.target = 'operator')::integer
             FROM delivered d
            WHERE e.id = d.engagement_id AND d.type = 'chat'),
         ${appendDelivered(sql)}
    SELECT account_id, id, engagement_id, sub_engagement_id, timestamp, content, status, sender, target, type, attachment, metadata,
           created_at, updated_at
      FROM delivered`;
  return new Map(rows.map((row) => [row.engagement_id, row]));
}

const acknowledgementColumns = piece((sql) => sql`message_id uuid`);

function acknowledgementRow({ accountId, engagementId, id, by }: BatchedAcknowledgement) {
  return { account_id: accountId, engagement_id: engagementId, ...partyColumns(by), message_id: id };
}
