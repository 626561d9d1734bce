import { atLeast, type Role } from '@usher/contract/roles';
import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../events/subscriptions/destination.ts';
import { accountOf, operatorOf, permitAs, roleTooLow } from '../identity/access.ts';
import { hasRoleAnywhere } from '../identity/caller.ts';
import type { Sql } from '../platform/database/database.ts';
import { notFound, Refusal } from '../platform/errors.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';

export interface CoveredWebhook {
  readonly id: WebhookId;
  readonly account_id: AccountId;
  readonly destination_id: DestinationId;
  readonly enabled: boolean;
  readonly deleted_at: Date | null;
  /** The sites that anybody but the registrar must be super_manager of; `null`: every site of the account. */
  readonly reach_site_ids: readonly SiteId[] | null;
}

interface ReadableWebhook extends CoveredWebhook {
  /** The sites whose events the caller may read in the delivery log; `null`: all events of the log. */
  readonly readableSiteIds: readonly SiteId[] | null;
}

interface StoredWebhook extends CoveredWebhook {
  readonly site_ids: readonly SiteId[] | null;
  readonly account_site_ids: readonly SiteId[];
  /** The reach includes every site that the webhook ever covered. For webhooks without a registrar this is not known. */
  readonly is_reach_complete: boolean;
  readonly is_own: boolean;
}

const requiredRole: Role = 'super_manager';

/**
 * Finds the webhook for a caller who is super_manager of every site that it covers; a webhook without sites and registrar, such
 * as an attached one, covers all sites of the account. The registrar may use the webhook while they are super_manager of one of
 * its sites, and reads no events of other sites. Deleted webhooks are found too, for their log. `named` is what the request
 * names, if that is not the webhook.
 */
export async function coveredWebhook(
  request: FastifyRequest,
  id: WebhookId,
  named: { readonly noun: string; readonly id: string } = { noun: 'webhook', id },
): Promise<ReadableWebhook> {
  const { sql } = request;
  refuseNeverSuperManager(request);
  const { operatorId, limited, roles } = operatorOf(request);
  const [row] = await sql<StoredWebhook[]>`
    SELECT id, account_id, destination_id, enabled, deleted_at, site_ids,
           webhook_reach(site_ids, has_covered) AS reach_site_ids, has_covered IS NOT NULL AS is_reach_complete,
           ARRAY(SELECT s.id FROM sites s WHERE s.account_id = w.account_id) AS account_site_ids,
           coalesce(registered_by = ${limited ? null : operatorId} AND deleted_at IS NULL, false) AS is_own
      FROM webhooks w
     WHERE id = ${id} AND account_id = ${accountOf(request)}`;
  if (row === undefined) throw notFound(named.noun, named.id);
  const { site_ids: siteIds, account_site_ids: all, is_reach_complete: isComplete, is_own: isOwn, ...webhook } = row;
  const { reach_site_ids: reach } = webhook;
  const isSuperManager = (site: SiteId): boolean => roles.get(site) === requiredRole;
  const sites = all.filter((site) => reach === null || reach.includes(site));
  const isWithin = sites.every(isSuperManager);
  if (!isWithin && !(isOwn && (siteIds ?? all).some(isSuperManager))) {
    // Sites without a role are checked first, because such a caller must not learn that the webhook exists.
    if (!sites.every((site) => roles.has(site))) throw notFound(named.noun, named.id);
    const tooLow = sites.map((site) => roles.get(site) ?? 'operator').find((role) => !atLeast(role, requiredRole));
    if (tooLow !== undefined) throw roleTooLow(requiredRole, tooLow);
  }
  permitAs(request, 'every webhook site');
  const readsAll = isWithin && (isComplete || all.every(isSuperManager));
  return { ...webhook, readableSiteIds: readsAll ? null : all.filter(isSuperManager) };
}

/** Refuses callers who are super_manager of no site, whether the webhook exists or not. */
export function refuseNeverSuperManager(request: FastifyRequest): void {
  if (hasRoleAnywhere(operatorOf(request), requiredRole)) return;
  throw new Refusal('forbidden', `This needs the role ${requiredRole} on every site that the webhook covers.`);
}

/** Locks the webhook for the transaction. Refuses a disabled or deleted webhook. */
export async function lockUsableWebhook(sql: Sql, id: WebhookId): Promise<Pick<CoveredWebhook, 'destination_id'>> {
  const webhook = await lockWebhookRow(sql, id);
  const usability = usabilityOf(webhook);
  if (usability === 'usable' && webhook !== null) return webhook;
  if (usability === 'disabled')
    throw new Refusal('webhook_disabled', `The webhook ${id} is disabled. Enable it first.`);
  throw new Refusal('webhook_deleted', `The webhook ${id} has been deleted.`);
}

type LockedWebhook = Pick<CoveredWebhook, 'destination_id' | 'enabled' | 'deleted_at'>;

/** Locks the webhook, so that transactions that requeue its deliveries run one at a time. */
export async function lockWebhookRow(sql: Sql, id: WebhookId): Promise<LockedWebhook | null> {
  const [row] = await sql<LockedWebhook[]>`
    SELECT destination_id, enabled, deleted_at FROM webhooks WHERE id = ${id} FOR NO KEY UPDATE`;
  return row ?? null;
}

export function usabilityOf(webhook: LockedWebhook | null): 'usable' | 'disabled' | 'deleted' {
  if (webhook === null || webhook.deleted_at !== null) return 'deleted';
  return webhook.enabled ? 'usable' : 'disabled';
}
