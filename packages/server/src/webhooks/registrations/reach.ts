import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { operatorOf, permitAs } from '../../identity/access.ts';
import type { OperatorCaller } from '../../identity/caller.ts';
import type { Sql } from '../../platform/database/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { SiteId } from '../../platform/ids.ts';
import { channelOf } from '../../channels/channels.ts';
import { refuseNeverSuperManager } from '../coverage.ts';
import {
  areSites,
  findWebhook,
  listWebhooks,
  lockWebhook,
  reachesEverySite,
  type Reach,
  type SeenWebhook,
} from './store.ts';
import type { WebhookRow } from './webhook.ts';

/**
 * Who may see and change a webhook: callers who are super_manager of every site that it covers; for others it does not exist. The
 * registrar may always see and delete it, whatever their roles are now.
 */
export function reachOf(request: FastifyRequest): Reach {
  const { accountId, operatorId, limited, roles } = operatorOf(request);
  return { accountId, siteIds: superManagedSites(roles), registrar: limited ? null : operatorId };
}

function superManagedSites(roles: OperatorCaller['roles']): SiteId[] {
  return [...roles].filter(([, role]) => role === 'super_manager').map(([site]) => site);
}

/** `see` includes deleting; `control` is everything else. */
type Purpose = 'see' | 'control';

export async function permittedWebhook(request: FastifyRequest, id: WebhookId, purpose: Purpose): Promise<WebhookRow> {
  return withoutCredentials(await permittedBy(request, id, purpose, findWebhook));
}

/**
 * Hides headers, path and query from callers who may only see the webhook: others may have changed it since, and these often
 * contain passwords.
 */
function withoutCredentials(webhook: SeenWebhook): WebhookRow {
  if (webhook.controlled) return webhook;
  const origin = channelOf(webhook.url).originOf(webhook.url);
  return { ...webhook, url: origin, headers: webhook.headers === null ? null : {} };
}

/** Locks the webhook until the transaction of `sql` ends. */
export async function lockedWebhook(
  request: FastifyRequest,
  sql: Sql,
  id: WebhookId,
  purpose: Purpose,
): Promise<WebhookRow> {
  return permittedBy(request, id, purpose, async (_, reach) => lockWebhook(sql, reach, id));
}

async function permittedBy(
  request: FastifyRequest,
  id: WebhookId,
  purpose: Purpose,
  find: typeof findWebhook,
): Promise<SeenWebhook> {
  const found = await find(request.sql, reachOf(request), id);
  if (found === null) {
    refuseNeverSuperManager(request);
    throw notFound('webhook', id);
  }
  if (purpose === 'control' && !found.controlled)
    throw new Refusal(
      'forbidden',
      'This needs the role super_manager on every site that the webhook covers. The operator who registered the webhook may see and delete it.',
    );
  permitAs(request, 'every webhook site', 'every webhook site, or registrar');
  return found;
}

/** The webhooks that the caller may see. Refuses callers who are super_manager of no site and have registered none. */
export async function seenWebhooks(
  request: FastifyRequest,
  window: { limit: number | null; offset: number },
): Promise<WebhookRow[]> {
  const reach = reachOf(request);
  const found = await listWebhooks(request.sql, reach, window);
  if (found.length === 0) refuseNeverSuperManager(request);
  permitAs(request, 'any site, or registrar');
  return found.map(withoutCredentials);
}

/**
 * `site_ids` to store. With a token for some sites, `null` means these sites, because such a token must not make a webhook cover
 * others, now or later. Refuses sites that the caller is not super_manager of.
 */
export function namedSites(request: FastifyRequest, siteIds: readonly SiteId[] | null): SiteId[] | null {
  const { limited, roles } = operatorOf(request);
  if (siteIds === null) return limited ? superManagedSites(roles) : null;
  const unknown = siteIds.flatMap((site, index) =>
    roles.has(site) ? [] : [{ attribute: `/site_ids/${index}`, detail: 'must be a site that this token can see' }],
  );
  if (unknown.length > 0) throw invalid(unknown);
  const beyond = siteIds.find((site) => roles.get(site) !== 'super_manager');
  if (beyond === undefined) return [...siteIds];
  throw new Refusal(
    'forbidden',
    `This needs the role super_manager on every site that the webhook covers; the caller is ${roles.get(beyond)} on ` +
      `${beyond}. Leave this site out of site_ids.`,
  );
}

/** Called under the account's lock: a site may have been deleted since the caller's roles were read. */
export async function refuseDeletedSites(sql: Sql, siteIds: readonly SiteId[] | null): Promise<void> {
  if (siteIds === null || (await areSites(sql, siteIds))) return;
  throw invalid([{ attribute: '/site_ids', detail: 'contains a site that has just been deleted' }]);
}

/** Called after a webhook was written: a caller who is not the registrar must not make it cover sites beyond their reach. */
export async function refuseBeyondReach(request: FastifyRequest, sql: Sql, webhook: WebhookRow): Promise<void> {
  const reach = reachOf(request);
  if (webhook.registered_by !== null && webhook.registered_by === reach.registrar) return;
  const isWithin =
    webhook.registered_by === null && webhook.site_ids === null
      ? await reachesEverySite(sql, reach)
      : webhook.covered_site_ids.every((site) => reach.siteIds.includes(site));
  if (isWithin) return;
  throw new Refusal(
    'forbidden',
    'Without site_ids the webhook would cover sites that the caller is not super_manager of. List the sites of the caller in ' +
      'site_ids.',
  );
}
