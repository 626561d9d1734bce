import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import type { EventType } from '../../events/catalogue.ts';
import { sampleEvent } from '../../events/make-event.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { inTransaction } from '../../platform/database/database.ts';
import { Refusal } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { RateLimit } from '../../platform/limits/rate-limit.ts';
import { concerning } from './audit.ts';
import { lockedWebhook } from './reach.ts';
import { insertTest } from './store.ts';

interface SentTest {
  readonly delivery_id: string;
  readonly event_id: string;
}

/** Delivers a sample event to this webhook only, even if it does not subscribe the type. The event is not in the event log. */
export async function sendTest(
  request: FastifyRequest,
  limit: RateLimit,
  id: WebhookId,
  type: EventType,
): Promise<SentTest> {
  return inTransaction(request.sql, async (sql) => {
    const webhook = await lockedWebhook(request, sql, id, 'control');
    limit.take(id);
    if (!webhook.enabled) throw new Refusal('webhook_disabled', 'The webhook is disabled. Enable it with PUT first.');
    const eventId = newId<string>();
    const at = new Date();
    const body = JSON.stringify(sampleEvent(type, { id: eventId, at }));
    const deliveryId = await insertTest(sql, webhook, { eventId, eventType: type, at, body });
    recordChange(request, { target: webhook, ...concerning(webhook) });
    return { delivery_id: deliveryId, event_id: eventId };
  });
}
