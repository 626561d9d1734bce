import type { Sql } from '../../platform/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import { longestSms } from './sms.ts';

interface ChatSms {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly chatMessageId: string;
  readonly content: string;
}

/**
 * The statement that sends an operator's chat message as SMS, where the engagement began by SMS; elsewhere it inserts nothing.
 * For use by itself, or as `WITH … AS (…)` of the statement that writes the chat message, whose transaction holds the
 * engagement's row. The text alone goes; a message that has gone before does not go again, one without text does not go.
 */
export function smsOfChatMessage(sql: Sql, { accountId, engagementId, chatMessageId, content }: ChatSms) {
  return sql`
    INSERT INTO sms_messages (id, account_id, site_id, request_id, engagement_id, chat_message_id, direction, from_number,
                              to_number, body, state, due_at)
    SELECT gen_random_uuid(), t.account_id, t.site_id, t.request_id, e.id, ${chatMessageId}::uuid, 'outbound', t.from_number,
           t.to_number, substr(${content}::text, part * ${longestSms}::integer + 1, ${longestSms}::integer), 'queued', now()
      FROM engagements e
      JOIN sms_threads t ON t.request_id = e.request_id
     CROSS JOIN generate_series(0, (length(${content}::text) - 1) / ${longestSms}::integer) AS part
     WHERE e.id = ${engagementId}::uuid AND e.account_id = ${accountId}::uuid AND ${content}::text <> ''
       AND NOT EXISTS (SELECT 1 FROM sms_messages m
                        WHERE m.engagement_id = e.id AND m.chat_message_id = ${chatMessageId}::uuid)
     ORDER BY part`;
}

/** Queues it in the transaction of the chat message. Whoever sends is told by the database. */
export async function queueSmsOf(sql: Sql, message: ChatSms): Promise<void> {
  await smsOfChatMessage(sql, message);
}
