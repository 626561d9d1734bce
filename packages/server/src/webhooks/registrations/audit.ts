import Type from 'typebox';
import type { Audited, RecordedChange } from '../../identity/audit/audit.ts';
import { channelOf } from '../../channels/channels.ts';
import { shownWebhook, webhookFields, webhookOutput, type WebhookRow } from './webhook.ts';

/**
 * A webhook in the audit log: its settings, not its health. Headers, paths and queries often contain passwords, so of the URL only
 * the origin is shown.
 */
export const webhookAudit = {
  of: Type.Object({ ...webhookOutput.properties, origin: Type.String() }),
  ...webhookFields.audit,
} satisfies Partial<Audited>;

export function auditedWebhook(row: WebhookRow): object {
  return { ...shownWebhook(row), origin: channelOf(row.url).originOf(row.url) };
}

/** An audit entry of a webhook is shown to those who may see the webhook: see `reach.ts`. */
export function concerning(
  { reach_site_ids: before }: Reached,
  after: Reached = { reach_site_ids: before },
): RecordedChange {
  const { reach_site_ids: later } = after;
  return { concerns: { each: before === null || later === null ? null : [...new Set([...before, ...later])] } };
}

type Reached = Pick<WebhookRow, 'reach_site_ids'>;
