import type { Sql } from '../../platform/database.ts';
import { maxSmsLength } from './sms.ts';

/**
 * Queues an operator's message as SMS if the engagement began by SMS; otherwise inserts nothing. Part of the statement that writes the
 * message, which names the engagement `engaged` and the message `sent`. Only the text is sent, split into several SMS if it is long.
 * A trigger of the database notifies the outbox.
 */
export function smsOfMessage(sql: Sql) {
  return sql`
           INSERT INTO sms_messages (id, account_id, site_id, request_id, engagement_id, chat_message_id, direction,
                                     from_number, to_number, body, state, due_at)
           SELECT gen_random_uuid(), t.account_id, t.site_id, t.request_id, sent.engagement_id, sent.id, 'outbound',
                  t.from_number, t.to_number, substr(sent.content, part * ${maxSmsLength}::integer + 1, ${maxSmsLength}::integer),
                  'queued', now()
             FROM engaged
             JOIN sms_threads t ON t.request_id = engaged.request_id
            CROSS JOIN sent
            CROSS JOIN generate_series(0, (length(sent.content) - 1) / ${maxSmsLength}::integer) AS part
            WHERE sent.content <> ''
            ORDER BY part`;
}
