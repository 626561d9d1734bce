import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import { appendWebhookEvent } from '../events/append.ts';
import type { WebhookEventType } from '../events/catalogue.ts';
import type { Sql } from '../platform/database/database.ts';
import { channelOf } from '../channels/channels.ts';
import { readReported, type ReportedWebhook } from './health-store.ts';

/** Appends an event about each of these webhooks, in the transaction that changed them. */
export async function reportWebhooks(sql: Sql, type: WebhookEventType, ids: readonly WebhookId[]): Promise<void> {
  if (ids.length === 0) return;
  for (const webhook of await readReported(sql, ids)) await report(sql, type, webhook);
}

async function report(sql: Sql, type: WebhookEventType, reported: ReportedWebhook): Promise<void> {
  const { account_id: accountId, url, failing_since: failingSince, disabled_because: because } = reported;
  const { id, description, site_ids: sites, registered_by } = reported;
  const origin = channelOf(url).originOf(url);
  const webhook = { id, origin, description, site_ids: [...sites], registered_by };
  const failing_since = failingSince?.toISOString() ?? null;
  switch (type) {
    case 'webhook.failing':
      if (failing_since === null) throw new Error('a webhook that fails has no start of its failures');
      return appendWebhookEvent(sql, { accountId, type, fields: { webhook: { ...webhook, failing_since } } });
    case 'webhook.disabled': {
      const disabled_because = because ?? 'asked';
      const fields = { webhook: { ...webhook, disabled_because, failing_since } };
      return appendWebhookEvent(sql, { accountId, type, fields });
    }
    case 'webhook.recovered':
      return appendWebhookEvent(sql, { accountId, type, fields: { webhook } });
  }
}
