import Type from 'typebox';
import { permit } from '../../identity/access.ts';
import type { Sql } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import type { App } from '../../platform/http/http.ts';
import { newId, type AccountId, type EngagementId } from '../../platform/ids.ts';
import { uuid } from '../../platform/schema.ts';
import { accountOf } from '../../identity/access.ts';
import { engagementEnded } from '../permitted-engagement.ts';
import { findEngagement } from '../store.ts';
import { writeAlone } from '../writes.ts';
import { arrangeAttachment, messageOutput, systemMessageInput, type MessageRow } from './message.ts';
import { putMessages, type NewMessage } from './store.ts';

interface SystemMessage {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  /** `omniguide`: an assistant that sends prompts and suggestions. */
  readonly sender?: 'system' | 'omniguide';
  readonly type?: 'system_message' | 'visitor_authentication';
  readonly content: string;
  readonly attachment?: MessageRow['attachment'];
  readonly metadata?: MessageRow['metadata'];
}

/** Sends a message to the operator. `null`: the engagement has ended. */
export async function sendSystemMessage(sql: Sql, given: SystemMessage): Promise<MessageRow | null> {
  const { accountId, engagementId, sender = 'system', type = 'system_message', content } = given;
  const message: NewMessage = {
    accountId,
    engagementId,
    id: newId(),
    by: { kind: sender },
    type,
    content,
    attachment: arrangeAttachment(given.attachment ?? null),
    metadata: given.metadata ?? null,
  };
  return writeAlone(sql, message, putMessages);
}

export function systemMessageRoutes(app: App): void {
  app.post(
    '/engagements/:engagement_id/system_messages',
    {
      config: { access: { operator: 'manager', site: 'resource' }, audit: 'own work' },
      schema: {
        tags: ['Messages'],
        summary: 'Send a message to the operator, as the system or as an assistant',
        description: 'For integrations: hints, suggestions, facts from other systems. The visitor does not see it.',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        body: systemMessageInput,
        response: { 201: messageOutput },
      },
    },
    async (request, reply) => {
      const { engagement_id: engagementId } = request.params;
      const accountId = accountOf(request);
      const engagement = await findEngagement(request.sql, accountId, engagementId);
      if (engagement === null) throw notFound('engagement', engagementId);
      permit(request, engagement, 'engagement');
      const sent = await sendSystemMessage(request.sql, { accountId, engagementId, ...request.body });
      if (sent === null)
        throw engagementEnded((await findEngagement(request.sql, accountId, engagementId)) ?? engagement);
      reply.code(201);
      return sent;
    },
  );
}
