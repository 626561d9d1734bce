import type { Sql } from '../../platform/database/database.ts';
import { isNotMoving } from '../../identity/moving.ts';
import { hasCome } from '../../platform/clock/due-time.ts';
import type { AccountId, EngagementId, RequestId, SiteId, VisitorId } from '../../platform/ids.ts';
import { cleanErrorText, type Due, type OutboundState, type SmsId, type SmsThread } from './sms.ts';

/** Locks both numbers until the transaction ends, ours first. The fixed order prevents deadlocks. */
export async function lockNumbers(sql: Sql, siteId: string, from: string, to: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sms from ${from}`}, 0))`;
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sms ${siteId} ${to}`}, 0))`;
}

/**
 * The visitor who last received an SMS at this phone, if they are still on the site. The `phone` field of visitors is not used: a
 * visitor could claim any number and would then see its messages. Served by sms_threads_by_phone.
 */
export async function visitorAtPhone(sql: Sql, siteId: SiteId, phone: string): Promise<VisitorId | null> {
  const [row] = await sql<{ id: VisitorId }[]>`
    SELECT v.id
      FROM sms_threads t
      JOIN visitors v ON v.id = t.visitor_id AND v.site_id = t.site_id
     WHERE t.site_id = ${siteId} AND t.to_number = ${phone}
     ORDER BY t.created_at DESC
     LIMIT 1`;
  return row?.id ?? null;
}

/** The account that sends from the number; `null`: no account has done so. Served by sms_threads_by_numbers. */
export async function accountOfNumber(sql: Sql, from: string): Promise<AccountId | null> {
  const [row] = await sql<{ account_id: AccountId }[]>`
    SELECT account_id FROM sms_threads WHERE from_number = ${from} LIMIT 1`;
  return row?.account_id ?? null;
}

const threadColumns = (sql: Sql) => sql`
  t.request_id AS "requestId", t.account_id AS "accountId", t.site_id AS "siteId", t.visitor_id AS "visitorId",
  t.operator_id AS "operatorId", t.from_number AS "from", t.to_number AS "to"`;

export async function findThread(
  sql: Sql,
  requestId: RequestId,
): Promise<(SmsThread & { readonly isRecent: boolean }) | null> {
  const [row] = await sql<(SmsThread & { isRecent: boolean })[]>`
    SELECT ${threadColumns(sql)}, t.created_at > now() - interval '23 hours 59 minutes' AS "isRecent"
      FROM sms_threads t WHERE t.request_id = ${requestId}`;
  return row ?? null;
}

/** How long a prepared SMS is left to the process that prepared it. */
const preparedDelay = '10 seconds';

export async function insertThread(sql: Sql, thread: SmsThread): Promise<void> {
  await sql`
    INSERT INTO sms_threads (request_id, account_id, site_id, visitor_id, operator_id, from_number, to_number)
    VALUES (${thread.requestId}, ${thread.accountId}, ${thread.siteId}, ${thread.visitorId}, ${thread.operatorId},
            ${thread.from}, ${thread.to})
    ON CONFLICT (request_id) DO NOTHING`;
}

/** Stores the SMS of the request, under the request's id. A `prepared` SMS is sent once its request exists. */
export async function insertRequestSms(
  sql: Sql,
  thread: SmsThread,
  body: string,
  state: 'prepared' | 'queued',
): Promise<void> {
  await sql`
    INSERT INTO sms_messages AS m (id, account_id, site_id, request_id, direction, from_number, to_number, body, state, due_at)
    VALUES (${thread.requestId}, ${thread.accountId}, ${thread.siteId}, ${thread.requestId}, 'outbound', ${thread.from},
            ${thread.to}, ${body}, ${state}, now() + CASE ${state} WHEN 'prepared' THEN ${preparedDelay}::interval ELSE '0' END)
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, due_at = excluded.due_at, attempts = 0, updated_at = now()
     WHERE m.state = 'prepared'`;
}

/** Queues an SMS whose process died after the request was created. */
export async function queuePrepared(sql: Sql, id: SmsId): Promise<void> {
  await sql`
    UPDATE sms_messages SET state = 'queued', due_at = now(), attempts = 0, updated_at = now()
     WHERE id = ${id} AND state = 'prepared'`;
}

/** Removes an SMS whose request was not created. */
export async function dropPrepared(sql: Sql, requestId: RequestId): Promise<void> {
  await sql`
    WITH dropped AS (DELETE FROM sms_messages WHERE id = ${requestId} AND state = 'prepared' RETURNING request_id)
    DELETE FROM sms_threads WHERE request_id IN (SELECT request_id FROM dropped)`;
}

/** Deletes the visitor of a dropped thread unless another thread is with them. Served by sms_threads_by_phone. */
export async function dropVisitorWithoutThread(sql: Sql, { siteId, visitorId, to }: SmsThread): Promise<void> {
  await sql`
    DELETE FROM visitors v
     WHERE v.id = ${visitorId}
       AND NOT EXISTS (SELECT FROM sms_threads t
                        WHERE t.site_id = ${siteId} AND t.to_number = ${to} AND t.visitor_id = v.id)`;
}

/** Longer than any turn takes. If the request does not exist after this time, it will not be created. */
const maxPreparing = '5 minutes';

/** Exceeds every retry delay, `Retry-After` and lease. */
const maxDelaySec = 600;

/**
 * Claims up to `max` due SMS for `leaseMs`. If the process dies, others can claim them after that. Within a thread and direction, SMS
 * are processed in order. Served by sms_messages_due and _unfinished.
 */
export async function claimDue(sql: Sql, max: number, leaseMs: number): Promise<Due[]> {
  const rows = await sql<Due[]>`
    WITH due AS (
           SELECT id FROM sms_messages d
            WHERE ${hasCome(sql, sql`due_at`, maxDelaySec)} AND ${isNotMoving(sql, sql`d.account_id`)}
              AND NOT EXISTS (SELECT 1 FROM sms_messages earlier
                               WHERE earlier.request_id = d.request_id AND earlier.direction = d.direction
                                 AND earlier.seq < d.seq AND earlier.due_at IS NOT NULL)
            ORDER BY due_at
            LIMIT ${max}
              FOR UPDATE SKIP LOCKED),
         claimed AS (
           UPDATE sms_messages m
              SET due_at = now() + ${leaseMs} * interval '1 millisecond', attempts = attempts + 1, updated_at = now(),
                  state = CASE state WHEN 'queued' THEN 'sending' ELSE state END
             FROM due
            WHERE m.id = due.id
           RETURNING m.*)
    SELECT c.id, c.account_id AS "accountId", c.request_id AS "requestId", c.direction, c.state, c.from_number AS "from",
           c.to_number AS "to", c.body, c.error, c.attempts, c.chat_message_id IS NULL AS "isRequest",
           c.created_at < now() - ${maxPreparing}::interval AS "isOld", t.visitor_id AS "visitorId", t.operator_id AS "operatorId", r.state AS "requestState"
      FROM claimed c
      JOIN sms_threads t ON t.request_id = c.request_id
      LEFT JOIN engagement_requests r ON r.id = c.request_id
     ORDER BY c.seq`;
  return rows;
}

/** Makes the SMS due again later, for any process. */
export async function postpone(sql: Sql, id: SmsId, afterMs: number): Promise<void> {
  await sql`
    UPDATE sms_messages
       SET due_at = now() + ${Math.round(afterMs)} * interval '1 millisecond', updated_at = now(),
           state = CASE state WHEN 'sending' THEN 'queued' ELSE state END
     WHERE id = ${id} AND due_at IS NOT NULL`;
}

/** The carrier has accepted the SMS. If a receipt has already moved the state further, the state stays. */
export async function recordSent(sql: Sql, id: SmsId, sid: string | null): Promise<void> {
  await sql`
    UPDATE sms_messages
       SET carrier_sid = coalesce(${sid}, carrier_sid), updated_at = now(),
           state  = CASE WHEN state IN ('prepared', 'queued', 'sending') THEN 'sent' ELSE state END,
           due_at = CASE WHEN state = 'failing' THEN due_at END
     WHERE id = ${id}`;
}

/**
 * The SMS will not arrive; its request must still be failed. A receipt may fail an SMS that was sent. A sender may not: if another
 * process took over and succeeded, that success counts.
 */
export async function recordFailing(sql: Sql, id: SmsId, why: string, by: 'sender' | 'receipt'): Promise<void> {
  await sql`
    UPDATE sms_messages SET state = 'failing', error = ${cleanErrorText(why)}, due_at = now(), updated_at = now()
     WHERE id = ${id} AND (state IN ('queued', 'sending') OR (state = 'sent' AND ${by} = 'receipt'))`;
}

export async function recordFailed(sql: Sql, id: SmsId): Promise<void> {
  await sql`
    UPDATE sms_messages SET state = 'failed', due_at = NULL, updated_at = now() WHERE id = ${id} AND state = 'failing'`;
}

export interface OutboundSms {
  readonly id: SmsId;
  readonly state: OutboundState;
  readonly accountId: AccountId;
  readonly requestId: RequestId;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly engagementId: EngagementId | null;
  readonly chatMessageId: string | null;
}

/** Finds the outbound SMS of a receipt, by our id or the carrier's, and locks it until the transaction ends. */
export async function lockOutbound(sql: Sql, id: string | null, sid: string | null): Promise<OutboundSms | null> {
  const [row] = await sql<OutboundSms[]>`
    SELECT m.id, m.state, m.account_id AS "accountId", m.request_id AS "requestId", m.site_id AS "siteId",
           t.visitor_id AS "visitorId", t.operator_id AS "operatorId", m.engagement_id AS "engagementId",
           m.chat_message_id AS "chatMessageId"
      FROM sms_messages m JOIN sms_threads t ON t.request_id = m.request_id
     WHERE m.direction = 'outbound' AND ${id === null ? sql`m.carrier_sid = ${sid}` : sql`m.id = ${id}`}
       FOR UPDATE OF m`;
  return row ?? null;
}

/** Serialises the receipts of all SMS of one chat message, so that the last one sees that all others have arrived. */
export async function lockChatMessage(sql: Sql, chatMessageId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sms of ${chatMessageId}`}, 0))`;
}

export async function recordDelivered(sql: Sql, id: SmsId): Promise<void> {
  await sql`
    UPDATE sms_messages SET state = 'delivered', due_at = NULL, updated_at = now() WHERE id = ${id}`;
}

/** Whether all SMS of the chat message have arrived. Served by sms_messages_by_chat_message. */
export async function hasArrived(sql: Sql, engagementId: EngagementId, chatMessageId: string): Promise<boolean> {
  const [row] = await sql<{ arrived: boolean }[]>`
    SELECT bool_and(state = 'delivered') AS arrived FROM sms_messages
     WHERE engagement_id = ${engagementId} AND chat_message_id = ${chatMessageId} AND direction = 'outbound'`;
  return row?.arrived === true;
}

/** The newest thread between the numbers whose request is pending or whose engagement is active. */
export async function findActiveThread(sql: Sql, from: string, to: string): Promise<SmsThread | null> {
  const [row] = await sql<SmsThread[]>`
    SELECT ${threadColumns(sql)}
      FROM sms_threads t
      JOIN engagement_requests r ON r.id = t.request_id
      LEFT JOIN engagements e ON e.id = r.engagement_id
     WHERE t.from_number = ${from} AND t.to_number = ${to}
       AND (r.state = 'pending' OR (r.state = 'accepted' AND e.ended_at IS NULL))
     ORDER BY t.created_at DESC, t.request_id DESC
     LIMIT 1`;
  return row ?? null;
}

interface NewInbound {
  readonly id: SmsId;
  readonly thread: SmsThread;
  readonly sid: string;
  readonly body: string;
}

/** `false`: this SMS was stored before, because the carrier delivered it twice. */
export async function insertInbound(sql: Sql, { id, thread, sid, body }: NewInbound): Promise<boolean> {
  const rows = await sql`
    INSERT INTO sms_messages (id, account_id, site_id, request_id, direction, from_number, to_number, body, carrier_sid,
                              state, due_at)
    VALUES (${id}, ${thread.accountId}, ${thread.siteId}, ${thread.requestId}, 'inbound', ${thread.to}, ${thread.from},
            ${body}, ${sid}, 'received', now())
    ON CONFLICT ON CONSTRAINT sms_messages_carrier_sid DO NOTHING
    RETURNING 1`;
  return rows.length > 0;
}

export interface ReplyTarget {
  readonly state: 'pending' | 'accepted' | 'failed';
  readonly engagementId: EngagementId | null;
}

export async function findReplyTarget(sql: Sql, requestId: RequestId): Promise<ReplyTarget | null> {
  const [row] = await sql<ReplyTarget[]>`
    SELECT state, engagement_id AS "engagementId" FROM engagement_requests WHERE id = ${requestId}`;
  return row ?? null;
}

export async function recordTaken(sql: Sql, id: SmsId, engagementId: EngagementId): Promise<void> {
  await sql`
    UPDATE sms_messages
       SET state = 'taken', engagement_id = ${engagementId}, chat_message_id = id, due_at = NULL, updated_at = now()
     WHERE id = ${id} AND state = 'received'`;
}

/** No request or engagement takes the SMS. Its text is deleted; the row stays, so that a repeated delivery is recognised. */
export async function recordUnclaimed(sql: Sql, id: SmsId): Promise<void> {
  await sql`
    UPDATE sms_messages SET state = 'unclaimed', body = '', due_at = NULL, updated_at = now()
     WHERE id = ${id} AND state = 'received'`;
}

/** Age in seconds of the oldest SMS that waits to be sent; 0: none waits. */
export async function queuedAgeSec(sql: Sql): Promise<number> {
  const [row] = await sql<{ age: number | null }[]>`
    SELECT extract(epoch FROM now() - min(created_at))::float8 AS age
      FROM sms_messages WHERE due_at IS NOT NULL AND state IN ('queued', 'sending')`;
  return row?.age ?? 0;
}
