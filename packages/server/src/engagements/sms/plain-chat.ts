import { writeEvent } from '../../events/write-event.ts';
import type { Sql } from '../../platform/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { AcknowledgeMessage, Chat, PutMessage } from './chat.ts';

/** Chat messages as far as SMS needs them, until the room of chat messages is there to give its own. */
export const plainChat: Chat = { putMessage, acknowledgeMessage };

interface EngagementRow {
  readonly id: EngagementId;
  readonly site_id: string;
  readonly sub_engagement_id: string;
  readonly visitor_id: string;
  readonly operator_id: string;
  readonly request_id: string;
  readonly ticket_id: string | null;
  readonly ended_at: Date | null;
  readonly undelivered: number;
}

async function lockEngagement(sql: Sql, accountId: AccountId, id: EngagementId): Promise<EngagementRow | null> {
  const [row] = await sql<EngagementRow[]>`
    SELECT id, site_id, sub_engagement_id, visitor_id, operator_id, request_id, ticket_id, ended_at,
           undelivered_to_operator AS undelivered
      FROM engagements WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
  return row ?? null;
}

async function putMessage(sql: Sql, message: Parameters<PutMessage>[1]): Promise<void> {
  const { accountId, engagementId, id, sender, content } = message;
  const engagement = await lockEngagement(sql, accountId, engagementId);
  if (engagement === null || engagement.ended_at !== null)
    throw new Refusal('engagement_ended', `The engagement ${engagementId} has ended.`);
  const at = new Date();
  const added = await sql`
    INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type,
                               content, status, created_at)
    VALUES (${accountId}, ${engagementId}, ${engagement.sub_engagement_id}, ${id}, ${sender.kind}, ${sender.id}, 'operator',
            'chat', ${content}, 'sent', ${at})
    ON CONFLICT (engagement_id, id) DO NOTHING
    RETURNING 1`;
  if (added.length === 0) return;
  await sql`UPDATE engagements SET undelivered_to_operator = undelivered_to_operator + 1 WHERE id = ${engagementId}`;
  await writeEvent(sql, {
    accountId,
    type: 'engagement.chat.message',
    about: aboutOf(engagement),
    fields: {
      message: {
        timestamp: at.toISOString(),
        id,
        engagement_id: engagementId,
        sub_engagement_id: engagement.sub_engagement_id,
        content,
        status: 'sent',
        sender: { type: 'visitor' },
        target: 'operator',
        type: 'chat',
        attachment: null,
      },
      undelivered_messages: engagement.undelivered > 0,
    },
    at,
  });
}

async function acknowledgeMessage(sql: Sql, message: Parameters<AcknowledgeMessage>[1]): Promise<void> {
  const { accountId, engagementId, id } = message;
  const engagement = await lockEngagement(sql, accountId, engagementId);
  if (engagement === null) return;
  const [sent] = await sql<{ content: string; sub_engagement_id: string; created_at: Date }[]>`
    UPDATE chat_messages SET status = 'delivered', delivered_at = now()
     WHERE engagement_id = ${engagementId} AND id = ${id} AND target = 'visitor' AND status = 'sent'
    RETURNING content, sub_engagement_id, created_at`;
  if (sent === undefined) return;
  await sql`
    UPDATE engagements SET undelivered_to_visitor = greatest(undelivered_to_visitor - 1, 0) WHERE id = ${engagementId}`;
  await writeEvent(sql, {
    accountId,
    type: 'engagement.chat.message_status',
    about: aboutOf(engagement),
    fields: {
      message: {
        timestamp: sent.created_at.toISOString(),
        id,
        engagement_id: engagementId,
        sub_engagement_id: sent.sub_engagement_id,
        content: sent.content,
        status: 'delivered',
        sender: { type: 'operator' },
        target: 'visitor',
        type: 'chat',
        attachment: null,
      },
    },
  });
}

function aboutOf(engagement: EngagementRow) {
  return {
    siteId: engagement.site_id,
    ticketId: engagement.ticket_id,
    requestId: engagement.request_id,
    engagementId: engagement.id,
    visitorId: engagement.visitor_id,
    operatorId: engagement.operator_id,
  };
}
