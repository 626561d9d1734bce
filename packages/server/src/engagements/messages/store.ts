import { appendEvents } from '../../events/append.ts';
import { payloadSql } from '../../events/payload-sql.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import { inTransaction, piece, type Sql } from '../../platform/database.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { smsOfMessages } from '../sms/sms-of-message.ts';
import { takesPartUntilCommit } from '../taking-part.ts';
import { arrangeAttachment, type MessageRow } from './message.ts';

type Side = Party['kind'];

/** A message as it is shown. */
export const columns = piece(
  (sql) => sql`
  account_id, id, engagement_id, sub_engagement_id, created_at AS timestamp, content, status,
  json_build_object('type', sender_type, 'id', sender_id) AS sender, target, type, attachment, metadata, created_at,
  coalesce(delivered_at, created_at) AS updated_at`,
);

/** The count of chat messages that the side has not acknowledged. System messages are not counted. */
const undelivered = {
  visitor: piece((sql) => sql`undelivered_to_visitor`),
  operator: piece((sql) => sql`undelivered_to_operator`),
};
/** How a new message changes the count of its target, and whether earlier chat messages are still undelivered. */
const counting = {
  visitor: {
    counted: piece((sql) => sql`undelivered_to_visitor = undelivered_to_visitor + 1`),
    hadEarlier: piece((sql) => sql`undelivered_to_visitor > 1`),
  },
  operator: {
    counted: piece((sql) => sql`undelivered_to_operator = undelivered_to_operator + 1`),
    hadEarlier: piece((sql) => sql`undelivered_to_operator > 1`),
  },
  // The row is updated anyway, because its lock orders the engagement's events.
  none: {
    counted: piece((sql) => sql`undelivered_to_operator = undelivered_to_operator`),
    hadEarlier: piece((sql) => sql`undelivered_to_operator > 0`),
  },
};
const noCondition = piece((sql) => sql``);
const isActive = piece((sql) => sql`e.ended_at IS NULL`);

export interface NewMessage {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  readonly from: Party | { readonly kind: 'system' | 'omniguide' };
  readonly type: MessageRow['type'];
  readonly content: string;
  readonly attachment: unknown;
  readonly metadata: unknown;
  /** The option that a response selects; it must have been offered to the sender's side. `null`: no response. */
  readonly chosen: string | null;
  /** Files to send: they must be clean and uploaded by the sender's side. `url` is their URL without the id. `null`: no files. */
  readonly files: { readonly ids: readonly string[]; readonly url: string } | null;
}

/**
 * Locks the engagement, and then writes the message and its event in one statement. `null`: the engagement has ended, the sender does
 * not take part, the option was not offered, or a file cannot be sent. If the id exists already, the statement fails with a unique violation.
 */
export async function putMessage(pool: Sql, message: NewMessage): Promise<MessageRow | null> {
  return inTransaction(pool, async (sql, finish) => {
    if (!(await lockForMessage(sql, message))) return null;
    const writing = writeMessage(sql, message);
    await finish([writing]);
    return writing;
  });
}

/**
 * Locks the engagement in which the message may be written, with all that this depends on, until the transaction ends. This may wait, so
 * it is not part of the statement that writes the event: that one must see webhooks that were registered meanwhile (D8.12).
 */
async function lockForMessage(sql: Sql, message: NewMessage): Promise<boolean> {
  const { accountId, engagementId, from, chosen, files } = message;
  const rows = await sql`
    SELECT 1
      FROM engagements e
     WHERE e.id = ${engagementId} AND e.account_id = ${accountId}
       AND ${from.kind === 'visitor' || from.kind === 'operator' ? takesPartUntilCommit(sql, from) : isActive(sql)}
       ${chosen === null ? noCondition(sql) : sql`AND ${wasOffered(sql, message, chosen)}`}
       ${files === null ? noCondition(sql) : sql`AND ${areClean(sql, message, files.ids)}`}
       FOR NO KEY UPDATE`;
  return rows.length > 0;
}

async function writeMessage(sql: Sql, message: NewMessage): Promise<MessageRow | null> {
  const { accountId, engagementId, id, from, type, content, files } = message;
  const isChat = from.kind === 'visitor' || from.kind === 'operator';
  const target: Side = from.kind === 'operator' ? 'visitor' : 'operator';
  const { counted, hadEarlier } = counting[isChat ? target : 'none'];
  const [row] = await sql<MessageRow[]>`
    WITH engaged AS (
           UPDATE engagements e
              SET ${counted(sql)}
            WHERE e.id = ${engagementId}
           RETURNING sub_engagement_id AS sub_id, site_id, visitor_id, operator_id, ticket_id, request_id, heard_by,
                     ${hadEarlier(sql)} AS undelivered, ${newId()}::uuid AS event_id,
                     date_trunc('milliseconds', clock_timestamp()) AS at),
         sent AS (
           INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target,
                                      type, content, attachment, metadata, status, created_at)
           SELECT ${accountId}, ${engagementId}, sub_id, ${id}, ${from.kind}, ${isChat ? from.id : null}, ${target}, ${type},
                  ${content}, ${files === null ? attachmentJson(sql, message.attachment) : filesJson(sql, files)}, ${json(message.metadata)}::text::json, 'sent', at
             FROM engaged
           RETURNING ${columns(sql)}),
         ${appendSent[from.kind](sql)}
         ${from.kind === 'operator' ? texted(sql) : noCondition(sql)}
    SELECT * FROM sent`;
  return row ?? null;
}

const texted = piece(
  (sql) => sql`, texted AS (${smsOfMessages(sql, sql`(SELECT sent.*, request_id FROM sent, engaged) AS m`)})`,
);

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function attachmentJson(sql: Sql, attachment: unknown) {
  return sql`${json(arrangeAttachment(attachment))}::text::json`;
}

/**
 * All files are clean, and none can be deleted until the transaction ends: they are locked (FOR SHARE). The lock waits for a deletion
 * in progress and then re-reads the row. A deletion also locks the file before the engagement, so the two cannot deadlock.
 */
function areClean(sql: Sql, { engagementId, from }: NewMessage, ids: readonly string[]) {
  return sql`${ids.length} = (
             SELECT count(*)
               FROM (SELECT 1
                       FROM files f
                      WHERE f.id = ANY(${[...ids]}::uuid[]) AND f.engagement_id = ${engagementId}
                        AND f.uploaded_by = ${from.kind} AND f.state = 'clean' AND f.deleted_at IS NULL
                      ORDER BY f.id
                        FOR SHARE OF f) AS clean)`;
}

/** The files as the interface describes them, in the order of the request. */
function filesJson(sql: Sql, { ids, url }: NonNullable<NewMessage['files']>) {
  return sql`(
                    SELECT ('{"type":"files","files":[' || string_agg(
                              '{"url":' || to_json(${url}::text || f.id) || ',"name":' || to_json(f.name) || ',"content_type":'
                                        || to_json(f.content_type) || ',"deleted":false}',
                              ',' ORDER BY array_position(${[...ids]}::uuid[], f.id)) || ']}')::json
                      FROM files f
                     WHERE f.id = ANY(${[...ids]}::uuid[]))`;
}

/** Served by chat_messages_choices, which indexes only messages with options; they are few. */
function wasOffered(sql: Sql, { engagementId, from }: NewMessage, chosen: string) {
  return sql`EXISTS (
             SELECT 1
               FROM chat_messages c, json_array_elements(c.attachment -> 'options') AS option
              WHERE c.engagement_id = ${engagementId} AND c.attachment ->> 'type' = 'single_choice'
                AND c.target = ${from.kind} AND option ->> 'value' = ${chosen})`;
}

type Sender = NewMessage['from']['kind'];

/** Fields of a message's events, mapped to column names of the statements below. */
const messageFields = (sender: Sender) => ({
  timestamp: 'timestamp',
  id: 'id',
  engagement_id: 'engagement_id',
  sub_engagement_id: 'sub_engagement_id',
  content: 'content',
  sender: { type: `'${sender}'::text` },
  attachment: 'attachment',
});

/** The part of a statement that appends the event of the message in `from`. Built once per type, because messages are frequent. */
function appending(sender: Sender, from: string, { type, at, payload }: Record<'type' | 'at' | 'payload', string>) {
  return piece((sql) =>
    appendEvents(
      sql,
      sql.unsafe(`
           SELECT account_id, event_id AS id, '${type}' AS type, site_id, ticket_id, request_id, engagement_id, visitor_id,
                  operator_id, ${at} AS occurred_at, ${payload} AS payload, heard_by, '${sender}' AS sender
             FROM ${from}`),
      { hasAttached: true },
    ),
  );
}

function appendingChat(sender: Side) {
  const type = 'engagement.chat.message';
  const message = { ...messageFields(sender), target: 'target' };
  const payload = payloadSql(type, { id: 'event_id', at: 'at' }, { message, undelivered_messages: 'undelivered' });
  return appending(sender, 'engaged, sent', { type, at: 'at', payload });
}

function appendingSystem(sender: Exclude<Sender, Side>) {
  const type = 'engagement.chat.system_message';
  const message = { ...messageFields(sender), type: 'type', metadata: 'metadata' };
  const payload = payloadSql(type, { id: 'event_id', at: 'at' }, { message, undelivered_messages: 'undelivered' });
  return appending(sender, 'engaged, sent', { type, at: 'at', payload });
}

/** Files are in the message's event, not in its status event. Delivering a system message appends no event. */
function appendingStatus(sender: Side) {
  const type = 'engagement.chat.message_status';
  const attachment = "CASE WHEN attachment ->> 'type' <> 'files' THEN attachment END";
  const message = { ...messageFields(sender), target: 'target', attachment };
  const payload = payloadSql(type, { id: 'event_id', at: 'updated_at' }, { message });
  return appending(sender, "engaged JOIN delivered ON type = 'chat'", { type, at: 'updated_at', payload });
}

const appendSent = {
  visitor: appendingChat('visitor'),
  operator: appendingChat('operator'),
  system: appendingSystem('system'),
  omniguide: appendingSystem('omniguide'),
};
const appendDelivered = { visitor: appendingStatus('visitor'), operator: appendingStatus('operator') };

export interface Acknowledgement {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  /** The recipient. The SMS carrier acknowledges for the visitor, even after the engagement has ended. */
  readonly by: Party | 'carrier';
}

/**
 * Marks the message as delivered and appends the status event, once. `null`: the message was acknowledged before, or the caller is not
 * its recipient.
 */
export async function acknowledgeMessage(pool: Sql, acknowledgement: Acknowledgement): Promise<MessageRow | null> {
  const { accountId, engagementId, by } = acknowledgement;
  return inTransaction(pool, async (sql, finish) => {
    // A statement of its own, as in `putMessage`.
    const engaged = await sql`
      SELECT 1 FROM engagements e
       WHERE e.id = ${engagementId} AND e.account_id = ${accountId}
         AND ${by === 'carrier' ? sql`true` : takesPartUntilCommit(sql, by)}
         FOR NO KEY UPDATE`;
    if (engaged.length === 0) return null;
    const writing = writeAcknowledgement(sql, acknowledgement);
    await finish([writing]);
    return writing;
  });
}

/** The engagement is locked. */
async function writeAcknowledgement(sql: Sql, { engagementId, id, by }: Acknowledgement): Promise<MessageRow | null> {
  const side: Side = by === 'carrier' ? 'visitor' : by.kind;
  const sender: Side = side === 'visitor' ? 'operator' : 'visitor';
  const unread = undelivered[side](sql);
  const [row] = await sql<MessageRow[]>`
    WITH engaged AS (
           SELECT e.id AS engaged_id, e.site_id, e.visitor_id, e.operator_id, e.ticket_id, e.request_id, ${newId()}::uuid AS event_id,
                  CASE WHEN e.ended_at IS NULL THEN e.heard_by END AS heard_by
             FROM engagements e
            WHERE e.id = ${engagementId}),
         delivered AS (
           UPDATE chat_messages
              SET status = 'delivered', delivered_at = date_trunc('milliseconds', clock_timestamp())
             FROM engaged
            WHERE engagement_id = engaged_id AND id = ${id} AND target = ${side} AND status = 'sent'
           RETURNING ${columns(sql)}),
         counted AS (
           UPDATE engagements e
              SET ${unread} = ${unread} - 1
             FROM delivered
            WHERE e.id = delivered.engagement_id AND delivered.type = 'chat'),
         ${appendDelivered[sender](sql)}
    SELECT * FROM delivered`;
  return row ?? null;
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
const senderName = piece(
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
