import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { Changes } from '../board/structures/changes.ts';
import { columnsOf } from './columns.ts';

/** The messages that the board writes are stored in `chat_messages`, among those of the two sides. */
const messageColumns = columnsOf<Changes['messages'][number]>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    engagement_id: ['uuid', ({ engagementId }) => engagementId],
    sub_engagement_id: ['uuid', ({ subEngagementId }) => subEngagementId],
    sender_type: ['text', ({ sender }) => sender.type],
    sender_id: ['uuid', ({ sender }) => sender.id],
    target: ['text', ({ sender }) => (sender.type === 'operator' ? 'visitor' : 'operator')],
    type: ['text', ({ sender }) => (sender.type === 'operator' ? 'chat' : 'system_message')],
    content: ['text', ({ content }) => content],
    attachment: ['json', ({ attachment }) => attachment],
  },
  mutable: {},
});

/** The CTE that writes the messages of a turn. */
export function writeMessages(sql: Sql, { messages }: Changes): SqlFragment {
  return sql`
         messages AS (
           INSERT INTO chat_messages (account_id, status, created_at, ${messageColumns.names(sql)})
           SELECT turn.account_id, 'sent', turn.at, ${messageColumns.names(sql)}
             FROM turn, ${messageColumns.inserted(sql, messages)})`;
}
