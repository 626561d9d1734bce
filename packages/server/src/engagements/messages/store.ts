import { appendEvents } from '../../events/append.ts';
import { payloadSql } from '../../events/payload-sql.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import { piece, type Sql } from '../../platform/database.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { smsOfMessage } from '../sms/sms-of-message.ts';
import { takesPartUntilCommit } from '../taking-part.ts';
import { arrangeAttachment, type MessageRow } from './message.ts';

type Side = Party['kind'];

const columns = piece(
  (sql) => sql`
  account_id, id, engagement_id, sub_engagement_id, created_at AS timestamp, content, status,
  json_build_object('type', sender_type, 'id', sender_id) AS sender, target, type, attachment, metadata, created_at,
  coalesce(delivered_at, created_at) AS updated_at`,
);

/** Chat messages to that side which it has not acknowledged. System messages are not counted. */
const undelivered = {
  visitor: piece((sql) => sql`undelivered_to_visitor`),
  operator: piece((sql) => sql`undelivered_to_operator`),
};
/** What a new message does to the count of its target, and whether earlier chat messages are undelivered afterwards. */
const counting = {
  visitor: {
    counted: piece((sql) => sql`undelivered_to_visitor = undelivered_to_visitor + 1`),
    hadEarlier: piece((sql) => sql`undelivered_to_visitor > 1`),
  },
  operator: {
    counted: piece((sql) => sql`undelivered_to_operator = undelivered_to_operator + 1`),
    hadEarlier: piece((sql) => sql`undelivered_to_operator > 1`),
  },
  // The row is written all the same: its lock puts the engagement's events in order.
  nobody: {
    counted: piece((sql) => sql`undelivered_to_operator = undelivered_to_operator`),
    hadEarlier: piece((sql) => sql`undelivered_to_operator > 0`),
  },
};
const nothing = piece((sql) => sql``);
const goesOn = piece((sql) => sql`e.ended_at IS NULL`);

export interface NewMessage {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  readonly from: Party | { readonly kind: 'system' | 'omniguide' };
  readonly type: MessageRow['type'];
  readonly content: string;
  readonly attachment: unknown;
  readonly metadata: unknown;
  /** Of a response: what was chosen, which must have been offered to that side. */
  readonly chosen: string | null;
  /** Of files: which, clean ones that this side has uploaded; and where they are found, but for their ids. */
  readonly files: { readonly ids: readonly string[]; readonly url: string } | null;
}

/**
 * Writes the message and its event in one statement, which begins by taking the engagement's row: so it is one that goes
 * on and the sender has part in, also if it ends or passes on at this very moment. `null`: it is not, or what was chosen
 * was not offered, or a file cannot be sent. A message with that id there already is a unique violation, and nothing is changed.
 */
export async function putMessage(sql: Sql, message: NewMessage): Promise<MessageRow | null> {
  const { accountId, engagementId, id, from, type, content, chosen, files } = message;
  const isChat = from.kind === 'visitor' || from.kind === 'operator';
  const target: Side = from.kind === 'operator' ? 'visitor' : 'operator';
  const { counted, hadEarlier } = counting[isChat ? target : 'nobody'];
  const [row] = await sql<MessageRow[]>`
    WITH engaged AS (
           UPDATE engagements e
              SET ${counted(sql)}
            WHERE e.id = ${engagementId} AND e.account_id = ${accountId}
              AND ${isChat ? takesPartUntilCommit(sql, from) : goesOn(sql)}
              ${chosen === null ? nothing(sql) : sql`AND ${wasOffered(sql, message, chosen)}`}
              ${files === null ? nothing(sql) : sql`AND ${areClean(sql, message, files.ids)}`}
           RETURNING sub_engagement_id AS sub_id, site_id, visitor_id, operator_id, ticket_id, request_id, heard_by,
                     ${hadEarlier(sql)} AS undelivered, ${newId()}::uuid AS event_id,
                     date_trunc('milliseconds', clock_timestamp()) AS at),
         sent AS (
           INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target,
                                      type, content, attachment, metadata, status, created_at)
           SELECT ${accountId}, ${engagementId}, sub_id, ${id}, ${from.kind}, ${isChat ? from.id : null}, ${target}, ${type},
                  ${content}, ${files === null ? given(sql, message.attachment) : filesSent(sql, files)}, ${json(message.metadata)}::text::json, 'sent', at
             FROM engaged
           RETURNING ${columns(sql)}),
         ${appendSent[from.kind](sql)}
         ${from.kind === 'operator' ? sql`, texted AS (${smsOfMessage(sql)})` : nothing(sql)}
    SELECT * FROM sent`;
  return row ?? null;
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

function given(sql: Sql, attachment: unknown) {
  return sql`${json(arrangeAttachment(attachment))}::text::json`;
}

/**
 * What is clean stays so, and is not deleted until the transaction ends: the files are locked (FOR SHARE), which waits for a
 * deletion that is under way, and reads the row again after it. Deleting locks a file before its engagement, too.
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

/** As the document has them, in the order they were given. */
function filesSent(sql: Sql, { ids, url }: NonNullable<NewMessage['files']>) {
  return sql`(
                    SELECT ('{"type":"files","files":[' || string_agg(
                              '{"url":' || to_json(${url}::text || f.id) || ',"name":' || to_json(f.name) || ',"content_type":'
                                        || to_json(f.content_type) || ',"deleted":false}',
                              ',' ORDER BY array_position(${[...ids]}::uuid[], f.id)) || ']}')::json
                      FROM files f
                     WHERE f.id = ANY(${[...ids]}::uuid[]))`;
}

/** Cards are few: served by chat_messages_choices. */
function wasOffered(sql: Sql, { engagementId, from }: NewMessage, chosen: string) {
  return sql`EXISTS (
             SELECT 1
               FROM chat_messages c, json_array_elements(c.attachment -> 'options') AS option
              WHERE c.engagement_id = ${engagementId} AND c.attachment ->> 'type' = 'single_choice'
                AND c.target = ${from.kind} AND option ->> 'value' = ${chosen})`;
}

type Sender = NewMessage['from']['kind'];

/** Fields of the events of a message, in columns that the statements below name so. */
const messageFields = (sender: Sender) => ({
  timestamp: 'timestamp',
  id: 'id',
  engagement_id: 'engagement_id',
  sub_engagement_id: 'sub_engagement_id',
  content: 'content',
  sender: { type: `'${sender}'::text` },
  attachment: 'attachment',
});

/** Parts of a statement that append the event of the message in `from`. Made once, because messages are many. */
function appending(sender: Sender, from: string, { type, at, payload }: Record<'type' | 'at' | 'payload', string>) {
  return piece((sql) =>
    appendEvents(
      sql,
      sql.unsafe(`
           SELECT account_id, event_id AS id, '${type}' AS type, site_id, ticket_id, request_id, engagement_id, visitor_id,
                  operator_id, ${at} AS occurred_at, ${payload} AS payload
             FROM ${from}`),
      sql.unsafe(`(SELECT heard_by, '${sender}' AS sender FROM engaged) AS h ON true`),
    ),
  );
}

function appendingChat(sender: Side) {
  const type = 'engagement.chat.message';
  const message = { ...messageFields(sender), target: 'target' };
  const payload = payloadSql(type, { id: 'event_id', at: 'at' }, { message, undelivered_messages: 'undelivered' });
  return appending(sender, 'engaged, sent', { type, at: 'at', payload });
}

function appendingNews(sender: Exclude<Sender, Side>) {
  const type = 'engagement.chat.system_message';
  const message = { ...messageFields(sender), type: 'type', metadata: 'metadata' };
  const payload = payloadSql(type, { id: 'event_id', at: 'at' }, { message, undelivered_messages: 'undelivered' });
  return appending(sender, 'engaged, sent', { type, at: 'at', payload });
}

/** Files are in the event of the message, not in the event of its delivery. That a message of the system has arrived is no event. */
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
  system: appendingNews('system'),
  omniguide: appendingNews('omniguide'),
};
const appendDelivered = { visitor: appendingStatus('visitor'), operator: appendingStatus('operator') };

interface Acknowledged {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  /** The recipient; or the carrier of SMS, for the visitor, also when the engagement has ended meanwhile. */
  readonly by: Party | 'carrier';
}

/**
 * The recipient has the message; the event of it is appended once. `null`: there is nothing to acknowledge, because it was
 * acknowledged before or is not the caller's to acknowledge.
 */
export async function acknowledgeMessage(sql: Sql, { accountId, engagementId, id, by }: Acknowledged) {
  const side: Side = by === 'carrier' ? 'visitor' : by.kind;
  const sender: Side = side === 'visitor' ? 'operator' : 'visitor';
  const unread = undelivered[side](sql);
  const [row] = await sql<MessageRow[]>`
    WITH engaged AS (
           SELECT e.id AS engaged_id, e.site_id, e.visitor_id, e.operator_id, e.ticket_id, e.request_id, ${newId()}::uuid AS event_id,
                  CASE WHEN e.ended_at IS NULL THEN e.heard_by END AS heard_by
             FROM engagements e
            WHERE e.id = ${engagementId} AND e.account_id = ${accountId} AND ${by === 'carrier' ? sql`true` : takesPartUntilCommit(sql, by)}
              FOR NO KEY UPDATE),
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

/** Read so many at a time: an engagement may have any number of them. */
const messagesInBatch = 500;

export interface TranscriptRow extends MessageRow {
  readonly seq: string;
  readonly sender_name: string | null;
}

/** What the sender of a message is called now. Served by the primary keys of operators and visitors. */
const senderName = piece(
  (sql) => sql`
  CASE sender_type
    WHEN 'operator' THEN (SELECT coalesce(o.display_name, o.name) FROM operators o WHERE o.id = sender_id)
    WHEN 'visitor' THEN (SELECT v.name FROM visitors v WHERE v.id = sender_id)
  END AS sender_name`,
);

/** Oldest first, a batch at a time. Served by chat_messages_in_order. */
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
       LIMIT ${messagesInBatch}`;
    after = rows.at(-1)?.seq ?? after;
    yield rows;
    if (rows.length < messagesInBatch) return;
  }
}
