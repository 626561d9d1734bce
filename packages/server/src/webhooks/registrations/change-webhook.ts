import type { FastifyRequest } from 'fastify';
import { addressComplaint, type WebhookId } from '../../events/attach-webhooks.ts';
import { destinationFor } from '../../events/destination.ts';
import { accountOf, operatorOf } from '../../identity/access.ts';
import { recordChange } from '../../identity/audit/audit.ts';
import { lockAccount } from '../../identity/lock-account.ts';
import type { Seal, Sealer } from '../../identity/sealer.ts';
import type { AddressGuard } from '../../platform/address-guard.ts';
import { inTransaction } from '../../platform/database.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import { ifMatch, preconditionFailed } from '../../platform/etag.ts';
import { newId } from '../../platform/ids.ts';
import { channelOf } from '../channels/channels.ts';
import { newSecret, purposeOfCredentials, purposeOfSecret } from '../channels/webhook-secret.ts';
import { moveWaiting, setAside } from '../set-aside.ts';
import { auditedWebhook, concerning } from './audit.ts';
import { lockedWebhook, namedSites, permittedWebhook, reachOf, refuseBeyondReach } from './reach.ts';
import { countRegistered, insertWebhook, markDeleted, takeOver, updateWebhook } from './store.ts';
import { completeWebhook, type WebhookGiven, type WebhookRow } from './webhook.ts';

/** By the document, of all channels together. */
const mostRegistered = 10;

/** It does not count among the ten, so it cannot become one of them. */
const sampleStays = 'cannot be changed: it belongs to the sample data. Register your own webhook.';

interface CreatedWebhook {
  readonly row: WebhookRow;
  /** `null`: its channel does not sign. */
  readonly secret: string | null;
}

export async function createWebhook(
  request: FastifyRequest,
  sealer: Sealer,
  given: WebhookGiven & { readonly secret?: string | null },
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
    refuseEleventh(await countRegistered(sql, reachOf(request)));
    const destinationId = await destinationFor(sql, accountId, webhook.url);
    const { operatorId: registeredBy } = operatorOf(request);
    return insertWebhook(sql, { id, accountId, destinationId, registeredBy }, { ...webhook, ...sealed });
  });
  recordChange(request, { after: auditedWebhook(row), ...concerning(row) });
  return { row, secret };
}

function sealCredentials(seal: Seal, id: WebhookId, credentials: WebhookGiven['credentials']): Buffer | null {
  return credentials === undefined || credentials === null
    ? null
    : seal(JSON.stringify(credentials), purposeOfCredentials(id));
}

function refuseEleventh({ all, unseen }: { readonly all: number; readonly unseen: number }): void {
  if (all < mostRegistered) return;
  const hidden =
    unseen === 0
      ? ''
      : ` This token cannot see ${unseen} of them. A super_manager of all their sites can delete them, as can whoever registered ` +
        'them, where that is known.';
  throw new Refusal(
    'webhook_limit',
    `An account has ${mostRegistered} webhooks at most, of all its sites together. Delete one first.${hidden}`,
  );
}

/**
 * A webhook that hears of no site, because its registrar or whoever gave it its URL has lost the role or was disabled, is taken over
 * by whoever sends it: they stand for its URL, and where that is not enough they become its registrar. Otherwise their request
 * would be answered with 200 and nothing would ever arrive.
 */
export async function changeWebhook(
  request: FastifyRequest,
  sealer: Sealer,
  id: WebhookId,
  given: WebhookGiven,
): Promise<WebhookRow> {
  const versions = ifMatch(request);
  const seal = await sealer.seal();
  return inTransaction(request.sql, async (sql) => {
    // Changes of roles hold the account, then webhooks; in another order the two could wait for each other.
    const accountId = accountOf(request);
    await lockAccount(sql, accountId);
    const current = await lockedWebhook(request, sql, id, 'control');
    if (versions !== null && !versions.includes(current.version)) throw preconditionFailed(current.version);
    const isStill = given.site_ids === undefined || (given.site_ids === null && current.site_ids === null);
    const webhook = completeWebhook(
      isStill ? given : { ...given, site_ids: namedSites(request, given.site_ids ?? null) },
      current,
    );
    const isMoved = webhook.url !== current.url;
    if (isMoved && current.is_sample) throw invalid([{ attribute: '/url', detail: sampleStays }]);
    const destinationId = await destinationFor(sql, accountId, webhook.url);
    if (destinationId !== current.destination_id)
      await moveWaiting(sql, { accountId, webhookId: id, to: destinationId });
    const { operatorId, limited } = operatorOf(request);
    const isSilent = current.covers?.length === 0;
    const urlSetBy = isMoved || isSilent ? operatorId : current.url_set_by;
    // Credentials are for the server that they were given for: another one must not get to know them.
    const isAsBefore = given.credentials === undefined && destinationId === current.destination_id;
    const changed = await updateWebhook(
      sql,
      { id, destinationId, urlSetBy },
      {
        ...webhook,
        isSigned: channelOf(webhook.url).unsigned === null,
        credentials: isAsBefore ? 'as before' : sealCredentials(seal, id, given.credentials),
      },
    );
    const isTakenOver = isSilent && !limited && changed.enabled && changed.covers?.length === 0;
    const row = isTakenOver ? await takeOver(sql, id, operatorId) : changed;
    if (!isStill) await refuseBeyondReach(request, sql, row);
    if (current.enabled && !row.enabled) await setAside(sql, { accountId, webhookId: id, as: 'held' });
    recordChange(request, { before: auditedWebhook(current), after: auditedWebhook(row), ...concerning(current, row) });
    return row;
  });
}

export async function removeWebhook(request: FastifyRequest, id: WebhookId): Promise<void> {
  const versions = ifMatch(request);
  await inTransaction(request.sql, async (sql) => {
    const current = await lockedWebhook(request, sql, id, 'see');
    const { account_id: accountId, version } = current;
    if (versions !== null && !versions.includes(version)) throw preconditionFailed(version);
    await markDeleted(sql, id);
    await setAside(sql, { accountId, webhookId: id, as: 'discarded' });
    recordChange(request, { before: auditedWebhook(current), ...concerning(current) });
  });
}

/** What is registered already is not checked again: a name that has gone astray must not keep it from being disabled. */
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
