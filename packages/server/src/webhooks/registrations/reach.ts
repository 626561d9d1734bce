import type { FastifyRequest } from 'fastify';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import { operatorOf, permitAs } from '../../identity/access.ts';
import type { Sql } from '../../platform/database.ts';
import { invalid, notFound, Refusal } from '../../platform/errors.ts';
import type { SiteId } from '../../platform/ids.ts';
import { refuseNeverSuperManager } from '../coverage.ts';
import { findWebhook, lockWebhook, reachesEverySite, type Reach } from './store.ts';
import type { WebhookRow } from './webhook.ts';

/**
 * Who may have to do with a webhook: it tells of its sites, or of all, so whoever sees or changes it is super_manager of
 * each of them. To others it is not there.
 */
export function reachOf(request: FastifyRequest): Reach {
  const { accountId, roles } = operatorOf(request);
  const siteIds = [...roles].filter(([, role]) => role === 'super_manager').map(([site]) => site);
  return { accountId, siteIds };
}

export async function permittedWebhook(request: FastifyRequest, id: WebhookId): Promise<WebhookRow> {
  return permittedBy(request, id, findWebhook);
}

/** In the transaction of `sql`, until whose end nobody else changes it. */
export async function lockedWebhook(request: FastifyRequest, sql: Sql, id: WebhookId): Promise<WebhookRow> {
  return permittedBy(request, id, async (_, reach) => lockWebhook(sql, reach, id));
}

async function permittedBy(request: FastifyRequest, id: WebhookId, find: typeof findWebhook): Promise<WebhookRow> {
  refuseNeverSuperManager(request);
  const found = await find(request.sql, reachOf(request), id);
  if (found === null) throw notFound('webhook', id);
  permitAs(request, 'every site heard');
  return found;
}

/** Refuses sites to hear of that the caller is not super_manager of; `null`: all of them. */
export async function refuseBeyondReach(
  request: FastifyRequest,
  sql: Sql,
  siteIds: readonly SiteId[] | null,
): Promise<void> {
  if (siteIds === null) {
    if (await reachesEverySite(sql, reachOf(request))) return;
    throw new Refusal(
      'forbidden',
      'Without site_ids a webhook hears of every site of the account, and this needs the role super_manager on all of ' +
        'them. Name in site_ids those that the caller is super_manager of.',
    );
  }
  const { roles } = operatorOf(request);
  const unknown = siteIds.flatMap((site, index) =>
    roles.has(site) ? [] : [{ attribute: `/site_ids/${index}`, detail: 'is not a site that this token can see' }],
  );
  if (unknown.length > 0) throw invalid(unknown);
  const beyond = siteIds.find((site) => roles.get(site) !== 'super_manager');
  if (beyond === undefined) return;
  throw new Refusal(
    'forbidden',
    `This needs the role super_manager on every site that the webhook hears of; the caller is ${roles.get(beyond)} on ` +
      `${beyond}. Leave it out of site_ids.`,
  );
}
