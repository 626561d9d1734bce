import { createHash } from 'node:crypto';
import { isFromPage, type Caller } from '../../identity/caller.ts';
import type { Directory } from '../../identity/directory.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { AddressGuard } from '../../platform/outbound/address-guard.ts';
import type { Sql } from '../../platform/database/database.ts';
import { invalid, Refusal, type Violation } from '../../platform/errors.ts';
import { newId, type AccountId, type Id, type OperatorId, type SiteId } from '../../platform/ids.ts';
import { channelOf, hostOf } from '../../channels/channels.ts';
import { destinationFor } from './destination.ts';
import { subscriptionOf, type WebhookInput, type WebhookSubscription } from './subscription.ts';
import { loggedTypes } from './subscribers.ts';
import type { UnresolvedNames } from '../unresolved-names.ts';
import { purposeOfSecret } from '../../channels/webhook-secret.ts';

export type WebhookId = Id<'webhook'>;

interface AttachInput {
  readonly accountId: AccountId;
  /** The site of the ticket, request or engagement. Its setting is the default of `messages`. */
  readonly siteId: SiteId;
  /** The side that attaches them, which `messages` refers to (D8.2). */
  readonly side: 'visitor' | 'operator';
  /** The operator who attaches them. The webhooks are sent events of a site only while this operator has a role there. */
  readonly attachedBy?: OperatorId | null;
  /** Validated by the schema `attachedWebhooks` and by `check`. */
  readonly webhooks: readonly WebhookInput[] | undefined;
}

interface AttachmentRequest {
  readonly caller: Caller;
  /** The site of the ticket or request. */
  readonly siteId: SiteId;
  /** IP address of the client. */
  readonly address: string;
  readonly webhooks: readonly WebhookInput[] | undefined;
}

interface AttacherDependencies {
  /** Not the `sql` of a request, which may be a transaction: a turn may insert deliveries for the webhooks before its commit. */
  readonly sql: Sql;
  /** The addresses that attached webhooks may call. */
  readonly guard: AddressGuard;
  readonly sealer: Sealer;
  readonly unresolved: UnresolvedNames;
  readonly sites: Pick<Directory['sites'], 'get'>;
}

/** Why the address in the URL must not be called (D8.9); `null`: the URL may be registered. */
export function addressComplaint(guard: AddressGuard, url: string): string | null {
  const address = channelOf(url).addressOf(url);
  return address === null ? null : guard.complaint(address);
}

/**
 * Stores webhooks that are attached to a ticket or request (D8.1). The ticket or request stores their ids and passes the ids
 * on to its engagement. Thousands of tickets attach the same webhooks, so equal webhooks share one row.
 */
export class WebhookAttacher {
  readonly #deps: AttacherDependencies;

  constructor(deps: AttacherDependencies) {
    this.#deps = deps;
  }

  /**
   * Called before a ticket or request is created. Refuses what `check` refuses, webhooks from visitors where the site accepts
   * none, and more unresolved names than one visitor or address may attach. Call this in a preHandler: the handler of a request
   * with an Idempotency-Key runs in a transaction, which must not wait while a site is read.
   */
  async checkFromCaller({ caller, siteId, address, webhooks = [] }: AttachmentRequest): Promise<void> {
    if (webhooks.length === 0) return;
    const { sites, unresolved } = this.#deps;
    if (caller.kind === 'visitor' && (await sites.get(siteId))?.site.visitor_webhooks === false)
      throw new Refusal(
        'forbidden',
        'This site does not accept webhooks from visitors (visitor_webhooks is false). Leave out `webhooks`.',
      );
    this.check(webhooks);
    if (caller.kind === 'visitor' && isFromPage(caller))
      unresolved.count(
        caller,
        address,
        webhooks.flatMap(({ url }) => hostOf(url) ?? []),
      );
  }

  /** Refuses webhooks whose addresses must not be called (D8.9). Sends no DNS query: names not in the cache are checked when used. */
  check(webhooks: readonly WebhookInput[] = []): void {
    const violations: Violation[] = webhooks.flatMap(({ url }, index) =>
      // The detail does not name the address: visitors attach webhooks, and must not learn what a name resolves to inside our network.
      addressComplaint(this.#deps.guard, url) === null
        ? []
        : [{ attribute: `/webhooks/${index}/url`, detail: forbiddenAddress }],
    );
    if (violations.length > 0) throw invalid(violations);
  }

  async attach({
    accountId,
    siteId,
    side,
    attachedBy = null,
    webhooks = [],
  }: AttachInput): Promise<readonly WebhookId[]> {
    if (webhooks.length === 0) return [];
    const { sql, sites } = this.#deps;
    const defaultMessages = (await sites.get(siteId))?.site.attached_webhook_messages ?? 'own';
    const requested = webhooks
      .map((webhook) => subscriptionOf(webhook, defaultMessages))
      .map((webhook) => ({ webhook, digest: digestOf(side, attachedBy, webhook) }));
    const found = await touchAttached(sql, accountId, digestsOf(requested));
    const missing = requested.filter(({ digest }) => !found.has(digest));
    for (const { webhook, digest } of missing) await this.#insert({ accountId, side, attachedBy, webhook, digest });
    const all = missing.length === 0 ? found : await touchAttached(sql, accountId, digestsOf(requested));
    return [...new Set(all.values())];
  }

  async #insert({ accountId, side, attachedBy, webhook, digest }: NewAttachedWebhook): Promise<void> {
    const { sql, sealer } = this.#deps;
    const id = newId<WebhookId>();
    const { url, method, headers, events, messages, secret } = webhook;
    const sealed = secret === null ? null : (await sealer.seal())(secret, purposeOfSecret(id));
    const destinationId = await destinationFor(sql, accountId, url);
    await sql`
      INSERT INTO webhooks (id, account_id, destination_id, side, digest, attached_at, url, method, headers, events, hears,
                            messages, secret, attached_by)
      VALUES (${id}, ${accountId}, ${destinationId}, ${side}, decode(${digest}, 'hex'), now(), ${url}, ${method ?? null},
              ${JSON.stringify(headers ?? {})}::text::json, ${[...events]}, ${loggedTypes(events)}, ${messages}, ${sealed},
              ${attachedBy})
      ON CONFLICT (account_id, digest) WHERE side IS NOT NULL DO NOTHING`;
  }
}

const forbiddenAddress = 'must have a public address, or one in USHER_WEBHOOK_ALLOW_CIDRS';

interface NewAttachedWebhook {
  readonly accountId: AccountId;
  readonly side: AttachInput['side'];
  readonly attachedBy: OperatorId | null;
  readonly webhook: WebhookSubscription;
  /** In hexadecimal. */
  readonly digest: string;
}

/** A hash of all fields of the webhook, in a fixed order, and of the operator who attached it. Equal webhooks have equal digests. */
function digestOf(side: AttachInput['side'], attachedBy: OperatorId | null, webhook: WebhookSubscription): string {
  const { url, method, headers = {}, events, messages, secret } = webhook;
  const request =
    method === undefined ? [] : [method, Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return createHash('sha256')
    .update(
      JSON.stringify([
        side,
        url,
        events.toSorted(),
        messages,
        secret,
        ...request,
        ...(attachedBy === null ? [] : [attachedBy]),
      ]),
    )
    .digest('hex');
}

function digestsOf(webhooks: readonly { readonly digest: string }[]): string[] {
  return webhooks.map(({ digest }) => digest);
}

/**
 * The webhooks that exist already, by digest. Retention drops a webhook that has not been attached for long, so `attached_at` is
 * renewed, at most daily; a webhook that is just being dropped is not returned. A disabled webhook is enabled again, because
 * nobody else could enable it.
 */
async function touchAttached(
  sql: Sql,
  accountId: AccountId,
  digests: readonly string[],
): Promise<Map<string, WebhookId>> {
  const rows = await sql<{ id: WebhookId; digest: string }[]>`
    WITH found AS (
           SELECT id, digest, attached_at, enabled
             FROM webhooks
            WHERE account_id = ${accountId} AND side IS NOT NULL
              AND digest = ANY(SELECT decode(each, 'hex') FROM unnest(${[...digests]}::text[]) AS each)),
         touched AS (
           UPDATE webhooks w
              SET attached_at = now(), enabled = true, disabled_because = NULL, disabled_at = NULL, failing_since = NULL
             FROM found
            WHERE w.id = found.id AND (NOT found.enabled OR found.attached_at < now() - interval '1 day')
           RETURNING w.id)
    SELECT id, encode(digest, 'hex') AS digest
      FROM found
     WHERE enabled AND attached_at >= now() - interval '1 day' OR id IN (SELECT id FROM touched)`;
  return new Map(rows.map(({ id, digest }) => [digest, id]));
}
