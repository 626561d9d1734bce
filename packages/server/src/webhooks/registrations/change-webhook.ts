import type { FastifyRequest } from 'fastify';
import { addressComplaint, type WebhookId } from '../../events/subscriptions/attach-webhooks.ts';
import { destinationFor } from '../../events/subscriptions/destination.ts';
import { excessOfAll } from '../../events/subscriptions/filter.ts';
import { accountOf, operatorOf } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { lockAccount } from '../../identity/lock-account.ts';
import type { Seal, Sealer } from '../../identity/sealer.ts';
import type { AddressGuard } from '../../platform/outbound/address-guard.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import { ifMatch, preconditionFailed } from '../../platform/http/etag.ts';
import { newId, type AccountId } from '../../platform/ids.ts';
import { channelOf } from '../../channels/channels.ts';
import { newSecret, purposeOfCredentials, purposeOfSecret } from '../../channels/webhook-secret.ts';
import { reportWebhooks } from '../report-webhooks.ts';
import { moveWaiting, setAside } from '../set-aside.ts';
import { auditedWebhook, concerning } from './audit.ts';
import {
  lockedWebhook,
  namedSites,
  permittedWebhook,
  reachOf,
  refuseBeyondReach,
  refuseDeletedSites,
} from './reach.ts';
import {
  beginReports,
  countRegistered,
  insertWebhook,
  markDeleted,
  noteOnDemand,
  otherFilters,
  takeOver,
  updateWebhook,
} from './store.ts';
import { completeWebhook, type WebhookBody, type WebhookRow } from './webhook.ts';

/** D8.1: limit of the account, for all channels together. */
const maxRegistered = 10;

/** The webhook of the sample data does not count towards the limit, so it must not be used for anything else. */
const sampleUrlIsFixed = 'cannot be changed: this webhook belongs to the sample data. Register your own webhook.';

interface CreatedWebhook {
  readonly row: WebhookRow;
  /** `null`: the channel does not sign. */
  readonly secret: string | null;
}

export async function createWebhook(
  request: FastifyRequest,
  sealer: Sealer,
  given: WebhookBody & { readonly secret?: string | null },
): Promise<CreatedWebhook> {
  const accountId = accountOf(request);
  const id = newId<WebhookId>();
  const webhook = completeWebhook({ ...given, site_ids: namedSites(request, given.site_ids ?? null) }, null);
  const secret = channelOf(webhook.url).unsigned === null ? (given.secret ?? newSecret()) : null;
  const seal = await sealer.seal();
  const sealed = {
    secret: secret === null ? null : seal(secret, purposeOfSecret(id)),
    credentials: sealCredentials(seal, id, given.credentials),
  };
  const row = await inTransaction(request.sql, async (sql) => {
    await lockAccount(sql, accountId);
    await refuseDeletedSites(sql, webhook.site_ids);
    refuseOverLimit(await countRegistered(sql, reachOf(request)));
    await refuseLargeFilters(sql, { accountId, id, filter: webhook.filter });
    const destinationId = await destinationFor(sql, accountId, webhook.url);
    const { operatorId: registeredBy } = operatorOf(request);
    const inserted = await insertWebhook(
      sql,
      { id, accountId, destinationId, registeredBy },
      { ...webhook, ...sealed },
    );
    await noteOnDemand(sql, accountId);
    await beginReports(sql, { accountId, id, types: webhook.events });
    return inserted;
  });
  recordChange(request, { after: auditedWebhook(row), ...concerning(row) });
  return { row, secret };
}

function sealCredentials(seal: Seal, id: WebhookId, credentials: WebhookBody['credentials']): Buffer | null {
  return credentials === undefined || credentials === null
    ? null
    : seal(JSON.stringify(credentials), purposeOfCredentials(id));
}

function refuseOverLimit({ all, unseen }: { readonly all: number; readonly unseen: number }): void {
  if (all < maxRegistered) return;
  const hidden =
    unseen === 0
      ? ''
      : ` ${unseen} of them are not visible to this token. They can be deleted by a super_manager of all their sites, or by the ` +
        'operator who registered them.';
  throw new Refusal(
    'webhook_limit',
    `The limit of ${maxRegistered} webhooks per account is reached. Delete one first.${hidden}`,
  );
}

interface NewFilter extends Pick<WebhookRow, 'filter'> {
  readonly accountId: AccountId;
  readonly id: WebhookId;
}

/** Refuses a filter that, with those of the account's other webhooks, would be too large. The account is locked. */
async function refuseLargeFilters(sql: Sql, { accountId, id, filter }: NewFilter): Promise<void> {
  if (filter === null) return;
  const detail = excessOfAll([filter, ...(await otherFilters(sql, accountId, id))]);
  if (detail !== null) throw invalid([{ attribute: '/filter', detail }]);
}

/**
 * Changes a webhook. If it covers no site, because its registrar or the operator who set its URL has lost the role or was
 * disabled, the caller takes it over: they become the operator who set the URL and, if that is not enough, the registrar.
 * Otherwise the request would be answered with 200 and nothing would ever be sent.
 */
export async function changeWebhook(
  request: FastifyRequest,
  sealer: Sealer,
  id: WebhookId,
  given: WebhookBody,
): Promise<WebhookRow> {
  const versions = ifMatch(request);
  const seal = await sealer.seal();
  return inTransaction(request.sql, async (sql) => {
    // Changes of roles lock the account first, then webhooks; another order here could deadlock.
    const accountId = accountOf(request);
    await lockAccount(sql, accountId);
    const current = await lockedWebhook(request, sql, id, 'control');
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    const keepsSites = given.site_ids === undefined || (given.site_ids === null && current.site_ids === null);
    const webhook = completeWebhook(
      keepsSites ? given : { ...given, site_ids: namedSites(request, given.site_ids ?? null) },
      current,
    );
    if (!keepsSites) await refuseDeletedSites(sql, webhook.site_ids);
    // Filters from before there were these limits stay in force.
    if (JSON.stringify(webhook.filter) !== JSON.stringify(current.filter))
      await refuseLargeFilters(sql, { accountId, id, filter: webhook.filter });
    const hasNewUrl = webhook.url !== current.url;
    if (hasNewUrl && current.is_sample) throw invalid([{ attribute: '/url', detail: sampleUrlIsFixed }]);
    const destinationId = await destinationFor(sql, accountId, webhook.url);
    if (destinationId !== current.destination_id)
      await moveWaiting(sql, { accountId, webhookId: id, to: destinationId });
    const { operatorId, limited } = operatorOf(request);
    const coversNoSite = current.covers?.length === 0;
    const urlSetBy = hasNewUrl || coversNoSite ? operatorId : current.url_set_by;
    // Credentials belong to the server they were given for: they must not be sent to another one.
    const keepsCredentials = given.credentials === undefined && destinationId === current.destination_id;
    const changed = await updateWebhook(
      sql,
      { id, destinationId, urlSetBy },
      {
        ...webhook,
        isSigned: channelOf(webhook.url).unsigned === null,
        credentials: keepsCredentials ? 'as before' : sealCredentials(seal, id, given.credentials),
      },
    );
    const isTakenOver = coversNoSite && !limited && changed.enabled && changed.covers?.length === 0;
    const row = isTakenOver ? await takeOver(sql, id, operatorId) : changed;
    if (!keepsSites) await refuseBeyondReach(request, sql, row);
    const types = webhook.events.filter((type) => !current.events.includes(type));
    await noteOnDemand(sql, accountId);
    await beginReports(sql, { accountId, id, types });
    if (current.enabled && !row.enabled) {
      await setAside(sql, { accountId, webhookId: id, as: 'held' });
      await reportWebhooks(sql, 'webhook.disabled', [id]);
    }
    recordChange(request, { before: auditedWebhook(current), after: auditedWebhook(row), ...concerning(current, row) });
    return row;
  });
}

export async function removeWebhook(request: FastifyRequest, id: WebhookId): Promise<void> {
  const versions = ifMatch(request);
  await inTransaction(request.sql, async (sql) => {
    await lockAccount(sql, accountOf(request));
    const current = await lockedWebhook(request, sql, id, 'see');
    const { account_id: accountId, version } = current;
    if (versions !== null && !versions.includes(version)) throw preconditionFailed(version);
    await markDeleted(sql, id);
    await noteOnDemand(sql, accountId);
    await setAside(sql, { accountId, webhookId: id, as: 'discarded' });
    recordChange(request, { before: auditedWebhook(current), ...concerning(current) });
  });
}

/** A URL that is registered already is not checked again: its webhook can be disabled even if its name now has a forbidden address. */
export async function refuseNewAddress(
  request: FastifyRequest,
  guard: AddressGuard,
  id: WebhookId,
  url: string,
): Promise<void> {
  if (url !== (await permittedWebhook(request, id, 'control')).url) refuseAddress(guard, url);
}

export function refuseAddress(guard: AddressGuard, url: string): void {
  const detail = addressComplaint(guard, url);
  if (detail !== null) throw invalid([{ attribute: '/url', detail }]);
}
