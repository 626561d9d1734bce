import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';
import { maxSmsLength } from './sms.ts';

/**
 * Queues the operators' messages `m` as SMS if their engagements began by SMS; otherwise inserts nothing. Part of the statement that
 * writes the messages; `m` has the columns request_id, engagement_id, id and content. Only the text is sent, split into several SMS
 * if it is long. A trigger of the database notifies the outbox.
 */
export function smsOfMessages(sql: Sql, m: SqlFragment): SqlFragment {
  return sql`
           INSERT INTO sms_messages (id, account_id, site_id, request_id, engagement_id, chat_message_id, direction,
                                     from_number, to_number, body, state, due_at)
           SELECT gen_random_uuid(), t.account_id, t.site_id, t.request_id, m.engagement_id, m.id, 'outbound',
                  t.from_number, t.to_number, substr(m.content, part * ${length(sql)} + 1, ${length(sql)}), 'queued', now()
             FROM ${m}
             JOIN sms_threads t ON t.request_id = m.request_id
            CROSS JOIN generate_series(0, (length(m.content) - 1) / ${length(sql)}) AS part
            WHERE m.content <> ''
            ORDER BY part`;
}

const length = fragment((sql) => sql.unsafe(String(maxSmsLength)));
