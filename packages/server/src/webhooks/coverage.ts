import { atLeast, type Role } from '@usher/contract/roles';
import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../events/attach-webhooks.ts';
import type { DestinationId } from '../events/destination.ts';
import { accountOf, operatorOf, permitAs, roleTooLow } from '../identity/access.ts';
import { hasRoleAnywhere } from '../identity/caller.ts';
import type { Sql } from '../platform/database.ts';
import { notFound, Refusal } from '../platform/errors.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';

export interface CoveredWebhook {
  readonly id: WebhookId;
  readonly account_id: AccountId;
  readonly destination_id: DestinationId;
  readonly enabled: boolean;
  readonly deleted_at: Date | null;
  /** What somebody else than its registrar must be super_manager of; `null`: every site of the account. */
  readonly reach_site_ids: readonly SiteId[] | null;
}

interface Covered extends CoveredWebhook {
  /** The sites whose events the caller may read in its log; `null`: it tells of no others. */
  readonly readableSiteIds: readonly SiteId[] | null;
}

interface StoredWebhook extends CoveredWebhook {
  readonly site_ids: readonly SiteId[] | null;
  readonly account_site_ids: readonly SiteId[];
  /** The reach has every site it ever heard of. It is not known of webhooks that have no registrar. */
  readonly is_reach_complete: boolean;
  readonly is_own: boolean;
}

const least: Role = 'super_manager';

/**
 * The webhook, for whoever is super_manager of every site it tells of: of all of the account's where it names none and has no
 * registrar, as those that came with a ticket or request. Its registrar may use it while they are super_manager of a site that it
 * may hear of, and reads no events of other sites. One that was deleted is found too, for its log. `named` is what the caller
 * asked for, where that was not the webhook.
 */
export async function coveredWebhook(
  request: FastifyRequest,
  id: WebhookId,
  named: { readonly noun: string; readonly id: string } = { noun: 'webhook', id },
): Promise<Covered> {
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
  const isSuperManager = (site: SiteId): boolean => roles.get(site) === least;
  const sites = all.filter((site) => reach === null || reach.includes(site));
  const isWithin = sites.every(isSuperManager);
  if (!isWithin && !(isOwn && (siteIds ?? all).some(isSuperManager))) {
    // A site that the caller has nothing to do with comes first: that there is a webhook at all is not for them to know.
    if (!sites.every((site) => roles.has(site))) throw notFound(named.noun, named.id);
    const tooLow = sites.map((site) => roles.get(site) ?? 'operator').find((role) => !atLeast(role, least));
    if (tooLow !== undefined) throw roleTooLow(least, tooLow);
  }
  permitAs(request, 'every webhook site');
  const readsAll = isWithin && (isComplete || all.every(isSuperManager));
  return { ...webhook, readableSiteIds: readsAll ? null : all.filter(isSuperManager) };
}

/** Whoever is super_manager of no site can have to do with no webhook, and is told so whether or not there is such a one. */
export function refuseNeverSuperManager(request: FastifyRequest): void {
  if (hasRoleAnywhere(operatorOf(request), least)) return;
  throw new Refusal('forbidden', `This needs the role ${least} on every site that the webhook hears of.`);
}

/** The webhook as it is now, which stays so for the transaction. Refuses where nothing can be sent by it. */
export async function holdUsable(sql: Sql, id: WebhookId): Promise<Pick<CoveredWebhook, 'destination_id'>> {
  const webhook = await holdWebhook(sql, id);
  const usability = usabilityOf(webhook);
  if (usability === 'usable' && webhook !== null) return webhook;
  if (usability === 'disabled')
    throw new Refusal('webhook_disabled', `The webhook ${id} is disabled. Enable it first.`);
  throw new Refusal('webhook_deleted', `The webhook ${id} has been deleted: nothing is sent by it any more.`);
}

type Held = Pick<CoveredWebhook, 'destination_id' | 'enabled' | 'deleted_at'>;

/** One at a time: whoever puts deliveries back by the webhook waits for the others who do. */
export async function holdWebhook(sql: Sql, id: WebhookId): Promise<Held | null> {
  const [row] = await sql<Held[]>`
    SELECT destination_id, enabled, deleted_at FROM webhooks WHERE id = ${id} FOR NO KEY UPDATE`;
  return row ?? null;
}

export function usabilityOf(webhook: Held | null): 'usable' | 'disabled' | 'deleted' {
  if (webhook === null || webhook.deleted_at !== null) return 'deleted';
  return webhook.enabled ? 'usable' : 'disabled';
}
