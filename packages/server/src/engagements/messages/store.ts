import { payloadSql } from '../../events/payload-sql.ts';
import { inTransaction, fragment, type Sql } from '../../platform/database/database.ts';
import type { EngagementId } from '../../platform/ids.ts';
import type { Party } from '../../identity/party.ts';
import { shareFiles } from '../files/store.ts';
import { smsOfMessages } from '../sms/sms-of-message.ts';
import { lockTogether, type AuthoredWrite } from '../taking-part.ts';
import { appendEventOfEach, writeAlone } from '../writes.ts';
import type { MessageRow } from './message.ts';

/** A message as it is shown. */
const columns = fragment(
  (sql) => sql`
  account_id, id, engagement_id, sub_engagement_id, created_at AS timestamp, content, status,
  json_build_object('type', sender_type, 'id', sender_id) AS sender, target, type, attachment, metadata, created_at,
  coalesce(delivered_at, created_at) AS updated_at`,
);

export interface NewMessage extends AuthoredWrite {
  readonly id: string;
  readonly by: Party | { readonly kind: 'system' | 'omniguide' };
  readonly type: MessageRow['type'];
  readonly content: string;
  readonly attachment: MessageRow['attachment'];
  readonly metadata: MessageRow['metadata'];
}

/** A message of one of the two sides. */
export interface ChatMessage extends NewMessage {
  readonly by: Party;
  /** The option that a response selects; it must have been offered to the sender's side. `null`: no response. */
  readonly chosen: string | null;
  /** Files to send: they must be clean and uploaded by the sender's side. `url` is their URL without the id. `null`: no files. */
  readonly files: { readonly ids: readonly string[]; readonly url: string } | null;
}

/** Fields of a message's events, mapped to columns of the statements below. */
const messageFields = {
  id: 'id',
  engagement_id: 'engagement_id',
  sub_engagement_id: 'sub_engagement_id',
  content: 'content',
  sender: { type: 'sender_type' },
};

/** The payload of the event of a chat message or of a system message. */
function sentPayload(): string {
  const event = { id: 'event_id', at: 'created_at' };
  const fields = { ...messageFields, timestamp: 'created_at', attachment: 'attachment' };
  const chat = { ...fields, target: 'target' };
  const system = { ...fields, type: 'type', metadata: 'metadata' };
  return `CASE type
             WHEN 'chat' THEN ${payloadSql('engagement.chat.message', event, { message: chat, undelivered_messages: 'undelivered' })}
             ELSE ${payloadSql('engagement.chat.system_message', event, { message: system, undelivered_messages: 'undelivered' })}
           END`;
}

const appendSent = appendEventOfEach('counted', {
  type: "CASE type WHEN 'chat' THEN 'engagement.chat.message' ELSE 'engagement.chat.system_message' END",
  at: 'created_at',
  payload: sentPayload(),
  sender: 'sender_type',
});

const texted = fragment(
  (sql) => sql`texted AS (${smsOfMessages(sql, sql`(SELECT * FROM counted WHERE target = 'visitor') AS m`)})`,
);

/**
 * Writes messages and their events in one statement, at most one message per engagement. Those that are not in the result were not
 * written: the engagement is locked by another transaction, the message is refused, or its id exists.
 *
 *   engaged  locks the engagements (`lockTogether`). All other parts depend on these locks, so the order of events and the counts
 *            are exact. Others insert messages only under the same locks, so the statement waits for nobody.
 *   sent     skips an id that exists, also if it was committed after the statement began: the unique index is asked.
 *   counted  raises the count of the target's undelivered messages, for stored messages only. System messages are not counted.
 */
export async function putMessages(
  sql: Sql,
  messages: readonly NewMessage[],
): Promise<ReadonlyMap<EngagementId, MessageRow>> {
  const rows = await sql<StoredRow[]>`
    WITH ${lockTogether(sql, messages, inputRow, messageColumns(sql))},
         sent AS (
           INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target,
                                      type, content, attachment, metadata, status, created_at)
           SELECT account_id, engagement_id, sub_engagement_id, id, party, party_id, target, type, content, attachment::json,
                  metadata::json, 'sent', date_trunc('milliseconds', clock_timestamp())
             FROM engaged
           ON CONFLICT (engagement_id, id) DO NOTHING
           RETURNING account_id, engagement_id, sub_engagement_id, id, sender_type, target, type, content, attachment, metadata,
                     created_at),
         counted AS (
           UPDATE engagements e
              SET undelivered_to_visitor = undelivered_to_visitor + (s.target = 'visitor')::integer,
                  undelivered_to_operator = undelivered_to_operator + (s.target = 'operator' AND s.type = 'chat')::integer
             FROM sent s
             JOIN engaged w ON w.engagement_id = s.engagement_id
            WHERE e.id = s.engagement_id
           RETURNING s.*, w.site_id, w.visitor_id, w.operator_id, w.ticket_id, w.request_id, w.heard_by, w.event_id,
                     w.traceparent, w.tracestate,
                     CASE s.target WHEN 'visitor' THEN undelivered_to_visitor ELSE undelivered_to_operator END
                       > (s.type = 'chat')::integer AS undelivered),
         ${appendSent(sql)},
         ${texted(sql)}
    SELECT engagement_id, sub_engagement_id, id, created_at FROM counted`;
  const stored = new Map(rows.map((row) => [row.engagement_id, row]));
  return new Map(
    messages.flatMap((message) => {
      const row = stored.get(message.engagementId);
      return row === undefined ? [] : [[message.engagementId, storedMessage(message, row)]];
    }),
  );
}

type StoredRow = Pick<MessageRow, 'engagement_id' | 'sub_engagement_id' | 'id' | 'created_at'>;

const messageColumns = fragment(
  (sql) => sql`id uuid, type text, target text, content text, attachment text, metadata text`,
);

/** Attachment and metadata are text inside the JSON, so that they are stored as they are written here, escapes included. */
function inputRow({ id, by, type, content, attachment, metadata }: NewMessage): object {
  return {
    id,
    type,
    target: targetOf(by),
    content,
    attachment: attachment === null ? null : JSON.stringify(attachment),
    metadata: metadata === null ? null : JSON.stringify(metadata),
  };
}

/** System messages go to the operator. */
function targetOf({ kind }: NewMessage['by']): MessageRow['target'] {
  return kind === 'operator' ? 'visitor' : 'operator';
}

function storedMessage(message: NewMessage, { sub_engagement_id, id, created_at }: StoredRow): MessageRow {
  const { accountId, engagementId, by, type, content, attachment, metadata } = message;
  return {
    account_id: accountId,
    id,
    engagement_id: engagementId,
    sub_engagement_id,
    timestamp: created_at,
    content,
    status: 'sent',
    sender: { type: by.kind, id: 'id' in by ? by.id : null },
    target: targetOf(by),
    type,
    attachment,
    metadata,
    created_at,
    updated_at: created_at,
  };
}

/**
 * Writes a message whose option must have been offered, or whose files must be clean. The files are locked before the engagement, and
 * until the transaction ends none of them can be deleted. A deletion locks in the same order, so the two cannot deadlock.
 */
export async function putDependentMessage(
  pool: Sql,
  { chosen, files, ...message }: ChatMessage,
): Promise<MessageRow | null> {
  return inTransaction(pool, async (sql) => {
    if (chosen !== null && !(await wasOffered(sql, message, chosen))) return null;
    const attachment = files === null ? message.attachment : await attachFiles(sql, message, files);
    return attachment === null ? null : writeAlone(sql, { ...message, attachment }, putMessages);
  });
}

/** The files as the interface describes them, in the order of the request. `null`: the sender may not send all of them. */
async function attachFiles(
  sql: Sql,
  { engagementId, by }: Omit<ChatMessage, 'chosen' | 'files'>,
  { ids, url }: NonNullable<ChatMessage['files']>,
): Promise<MessageRow['attachment']> {
  const found = await shareFiles(sql, { engagementId, ids, sender: by.kind });
  if (found.length < ids.length) return null;
  const files = found.map(({ id, name, content_type }) => ({ url: `${url}${id}`, name, content_type, deleted: false }));
  return { type: 'files', files };
}

/** Served by chat_messages_choices, which indexes only messages with options; they are few. */
async function wasOffered(sql: Sql, { engagementId, by }: NewMessage, chosen: string): Promise<boolean> {
  const rows = await sql`
    SELECT 1
      FROM chat_messages c, json_array_elements(c.attachment -> 'options') AS option
     WHERE c.engagement_id = ${engagementId} AND c.attachment ->> 'type' = 'single_choice'
       AND c.target = ${by.kind} AND option ->> 'value' = ${chosen}
     LIMIT 1`;
  return rows.length > 0;
}

export interface Acknowledgement extends AuthoredWrite {
  readonly id: string;
  /** The recipient. The carrier acknowledges for the visitor, even after the engagement has ended. */
  readonly by: Party | { readonly kind: 'carrier' };
}

/** Files are in the message's event, not in its status event. Delivering a system message appends no event. */
const appendDelivered = appendEventOfEach("delivered WHERE type = 'chat'", {
  type: "'engagement.chat.message_status'",
  at: 'updated_at',
  payload: payloadSql(
    'engagement.chat.message_status',
    { id: 'event_id', at: 'updated_at' },
    {
      message: {
        ...messageFields,
        timestamp: 'timestamp',
        target: 'target',
        attachment: "CASE WHEN attachment ->> 'type' <> 'files' THEN attachment END",
      },
    },
  ),
  sender: 'sender_type',
});

/**
 * Marks messages as delivered and appends their status events in one statement, at most one message per engagement. Those that are
 * not in the result were not marked: the engagement is locked by another transaction, the message was acknowledged before, or the
 * caller is not its recipient.
 */
export async function acknowledgeMessages(
  sql: Sql,
  acknowledgements: readonly Acknowledgement[],
): Promise<ReadonlyMap<EngagementId, MessageRow>> {
  const rows = await sql<MessageRow[]>`
    WITH ${lockTogether(sql, acknowledgements, acknowledgementRow, acknowledgementColumns(sql))},
         delivered AS (
           UPDATE chat_messages
              SET status = 'delivered', delivered_at = date_trunc('milliseconds', clock_timestamp())
             FROM (SELECT engagement_id AS engaged_id, message_id, recipient, site_id, visitor_id, operator_id, ticket_id, request_id,
                          heard_by, event_id, traceparent, tracestate
                     FROM engaged) AS w
            WHERE engagement_id = engaged_id AND id = message_id AND target = recipient AND status = 'sent'
           RETURNING ${columns(sql)}, sender_type, site_id, visitor_id, operator_id, ticket_id, request_id, heard_by, event_id,
                     traceparent, tracestate),
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

const acknowledgementColumns = fragment((sql) => sql`message_id uuid, recipient text`);

function acknowledgementRow({ id, by }: Acknowledgement): object {
  return { message_id: id, recipient: by.kind === 'operator' ? 'operator' : 'visitor' };
}

export async function findMessage(
  sql: Sql,
  { accountId, engagementId, id }: Pick<NewMessage, 'accountId' | 'engagementId' | 'id'>,
): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`
    SELECT ${columns(sql)} FROM chat_messages
     WHERE engagement_id = ${engagementId} AND id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

/** Messages are read in batches, because an engagement may have any number of them. */
const batchSize = 500;

export interface TranscriptRow extends MessageRow {
  readonly seq: string;
  readonly sender_name: string | null;
}

/** The sender's current name. Served by the primary keys of operators and visitors. */
const senderName = fragment(
  (sql) => sql`
  CASE sender_type
    WHEN 'operator' THEN (SELECT coalesce(o.display_name, o.name) FROM operators o WHERE o.id = sender_id)
    WHEN 'visitor' THEN (SELECT v.name FROM visitors v WHERE v.id = sender_id)
  END AS sender_name`,
);

/** Oldest first, in batches. Served by chat_messages_in_order. */
export async function* transcript(
  sql: Sql,
  engagementId: EngagementId,
  seenBy: 'visitor' | 'staff',
): AsyncGenerator<readonly TranscriptRow[]> {
  let after = '0';
  for (;;) {
    const rows = await sql<TranscriptRow[]>`
      SELECT ${columns(sql)}, ${senderName(sql)}, seq FROM chat_messages
       WHERE engagement_id = ${engagementId} AND seq > ${after}
         ${seenBy === 'staff' ? sql`` : sql`AND sender_type IN ('visitor', 'operator')`}
       ORDER BY seq
       LIMIT ${batchSize}`;
    after = rows.at(-1)?.seq ?? after;
    yield rows;
    if (rows.length < batchSize) return;
  }
}
