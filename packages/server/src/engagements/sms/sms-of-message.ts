import type { Sql } from '../../platform/database.ts';
import { longestSms } from './sms.ts';

/**
 * Sends an operator's message as SMS where its engagement began by SMS; elsewhere it inserts nothing. To be put into the
 * statement that writes the message, which calls the engagement `engaged` and the message `sent`. The text alone goes, in
 * pieces if it is long; one without text does not go. Whoever sends is told by the database.
 */
export function smsOfMessage(sql: Sql) {
  return sql`
           INSERT INTO sms_messages (id, account_id, site_id, request_id, engagement_id, chat_message_id, direction,
                                     from_number, to_number, body, state, due_at)
           SELECT gen_random_uuid(), t.account_id, t.site_id, t.request_id, sent.engagement_id, sent.id, 'outbound',
                  t.from_number, t.to_number, substr(sent.content, part * ${longestSms}::integer + 1, ${longestSms}::integer),
                  'queued', now()
             FROM engaged
             JOIN sms_threads t ON t.request_id = engaged.request_id
            CROSS JOIN sent
            CROSS JOIN generate_series(0, (length(sent.content) - 1) / ${longestSms}::integer) AS part
            WHERE sent.content <> ''
            ORDER BY part`;
}
