import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import { operatorOf, permitAs } from '../../identity/access.ts';
import type { OperatorCaller } from '../../identity/caller.ts';
import type { Sql } from '../../platform/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { SiteId } from '../../platform/ids.ts';
import { channelOf } from '../channels/channels.ts';
import { refuseNeverSuperManager } from '../coverage.ts';
import { findWebhook, listWebhooks, lockWebhook, reachesEverySite, type Reach, type SeenWebhook } from './store.ts';
import type { WebhookRow } from './webhook.ts';

/**
 * Who may have to do with a webhook. It tells of sites, so whoever changes it is super_manager of each of them; to others it is
 * not there. Whoever registered it sees and deletes it whatever became of their roles.
 */
export function reachOf(request: FastifyRequest): Reach {
  const { accountId, operatorId, limited, roles } = operatorOf(request);
  return { accountId, siteIds: superManagedSites(roles), registrar: limited ? null : operatorId };
}

function superManagedSites(roles: OperatorCaller['roles']): SiteId[] {
  return [...roles].filter(([, role]) => role === 'super_manager').map(([site]) => site);
}

/** What the caller wants: `see` also stands for deleting, `control` for everything else. */
type Purpose = 'see' | 'control';

export async function permittedWebhook(request: FastifyRequest, id: WebhookId, purpose: Purpose): Promise<WebhookRow> {
  return withoutCredentials(await permittedBy(request, id, purpose, findWebhook));
}

/**
 * The webhook as it is shown to somebody who may see it and no more: others may have changed it since, and headers, paths and
 * queries often hold passwords. Whoever controls it is shown everything.
 */
function withoutCredentials(webhook: SeenWebhook): WebhookRow {
  if (webhook.controlled) return webhook;
  const origin = channelOf(webhook.url).originOf(webhook.url);
  return { ...webhook, url: origin, headers: webhook.headers === null ? null : {} };
}

/** In the transaction of `sql`, until whose end nobody else changes it. */
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
      'This needs the role super_manager on every site that the webhook hears of. Who registered it may see and delete it.',
    );
  permitAs(request, 'every webhook site', 'every webhook site, or registrar');
  return found;
}

/** The webhooks that the caller sees; refuses who is super_manager nowhere and has registered none. */
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
 * The sites that a webhook is to name. A token for some sites only cannot let it hear of others, now or later, so that `null`
 * means the sites of the token. Refuses sites that the caller is not super_manager of.
 */
export function namedSites(request: FastifyRequest, siteIds: readonly SiteId[] | null): SiteId[] | null {
  const { limited, roles } = operatorOf(request);
  if (siteIds === null) return limited ? superManagedSites(roles) : null;
  const unknown = siteIds.flatMap((site, index) =>
    roles.has(site) ? [] : [{ attribute: `/site_ids/${index}`, detail: 'is not a site that this token can see' }],
  );
  if (unknown.length > 0) throw invalid(unknown);
  const beyond = siteIds.find((site) => roles.get(site) !== 'super_manager');
  if (beyond === undefined) return [...siteIds];
  throw new Refusal(
    'forbidden',
    `This needs the role super_manager on every site that the webhook hears of; the caller is ${roles.get(beyond)} on ` +
      `${beyond}. Leave it out of site_ids.`,
  );
}

/** After a webhook has been written: whoever is not its registrar must not have made it hear of sites beyond their reach. */
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
    'Without site_ids the webhook hears of sites that the caller is not super_manager of. Name in site_ids those that the ' +
      'caller is super_manager of.',
  );
}
