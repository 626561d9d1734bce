import Type from 'typebox';
import { originOf } from '../../events/destination.ts';
import type { Audited, Recorded } from '../../identity/audit/audit.ts';
import type { SiteId } from '../../platform/ids.ts';
import { webhookOutput, type WebhookRow } from './webhook.ts';

/**
 * A webhook in the audit log: what it was set to, and not how it fares. Headers are often there for a password, and addresses
 * have them too, in the path or the query: of an address only the origin is told.
 */
export const webhookAudit = {
  of: Type.Object({ ...webhookOutput.properties, origin: Type.String() }),
  hides: ['url', 'headers'],
  omits: ['disabled_because', 'disabled_at', 'failing_since'],
} satisfies Partial<Audited>;

export function auditedWebhook(row: WebhookRow): object {
  return { ...row, origin: originOf(row.url) };
}

/** Who hears of the webhook is who sees it: see `reach.ts`. */
export function concerning({ site_ids: before }: Heard, { site_ids: after }: Heard = { site_ids: before }): Recorded {
  return { concerns: { each: before === null || after === null ? null : [...before, ...after] } };
}

interface Heard {
  readonly site_ids: readonly SiteId[] | null;
}
