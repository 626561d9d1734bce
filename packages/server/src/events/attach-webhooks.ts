import { createHash } from 'node:crypto';
import { isFromPage, type Caller } from '../identity/caller.ts';
import type { Directory } from '../identity/directory.ts';
import type { Sealer } from '../identity/sealer.ts';
import type { AddressGuard } from '../platform/address-guard.ts';
import type { Sql } from '../platform/database.ts';
import { invalid, Refusal, type Violation } from '../platform/errors.ts';
import { newId, type AccountId, type Id, type OperatorId, type SiteId } from '../platform/ids.ts';
import { channelOf, hostOf } from '../webhooks/channels/channels.ts';
import { destinationFor } from './destination.ts';
import { subscriptionOf, type WebhookInput, type WebhookSubscription } from './subscription.ts';
import { loggedTypes } from './subscribers.ts';
import type { UnresolvedNames } from './unresolved-names.ts';
import { purposeOfSecret } from '../webhooks/channels/webhook-secret.ts';

export type WebhookId = Id<'webhook'>;

interface Attaching {
  readonly accountId: AccountId;
  /** The site of the ticket, request or engagement: its setting says whose messages are meant where a webhook does not. */
  readonly siteId: SiteId;
  /** Who brings them: that side's messages they hear (D8.2). */
  readonly side: 'visitor' | 'operator';
  /** The operator who brings them: they hear of a site only while that operator has a role there. */
  readonly attachedBy?: OperatorId | null;
  /** Having passed `attachedWebhooks`, and `check`. */
  readonly webhooks: readonly WebhookInput[] | undefined;
}

interface AttachmentRequest {
  readonly caller: Caller;
  /** The site of the ticket or request. */
  readonly siteId: SiteId;
  /** Where the request comes from. */
  readonly address: string;
  readonly webhooks: readonly WebhookInput[] | undefined;
}

interface AttacherParts {
  /** Not the `sql` of a request, which may be a transaction: turns tell webhooks before that is committed. */
  readonly sql: Sql;
  /** Whom attached webhooks may call. */
  readonly guard: AddressGuard;
  readonly sealer: Sealer;
  readonly unresolved: UnresolvedNames;
  readonly sites: Pick<Directory['sites'], 'get'>;
}

/** Why the URL cannot be registered, where an address of it is one that must not be called (D8.9); `null`: it can. */
export function addressComplaint(guard: AddressGuard, url: string): string | null {
  const address = channelOf(url).addressOf(url);
  return address === null ? null : guard.complaint(address);
}

/**
 * Webhooks that come with a ticket or request (D8.1). What carries them names them by id, and passes that on to what it
 * becomes. Tickets by the thousand bring the same ones along, so that those which say the same are one row.
 */
export class WebhookAttacher {
  readonly #parts: AttacherParts;

  constructor(parts: AttacherParts) {
    this.#parts = parts;
  }

  /**
   * Called before a ticket or request is made. Beside `check`, refuses webhooks of visitors where the site takes none, and more names
   * that do not resolve than one visitor or address may attach. Call it in a preHandler: the handler of a request with an
   * Idempotency-Key runs in a transaction, which must not wait for a site to be read.
   */
  async checkFromCaller({ caller, siteId, address, webhooks = [] }: AttachmentRequest): Promise<void> {
    if (webhooks.length === 0) return;
    const { sites, unresolved } = this.#parts;
    if (caller.kind === 'visitor' && (await sites.get(siteId))?.site.visitor_webhooks === false)
      throw new Refusal(
        'forbidden',
        'The site takes no webhooks from visitors (visitor_webhooks). Leave out webhooks.',
      );
    this.check(webhooks);
    if (caller.kind === 'visitor' && isFromPage(caller))
      unresolved.hold(
        caller,
        address,
        webhooks.flatMap(({ url }) => hostOf(url) ?? []),
      );
  }

  /** Refuses webhooks whose addresses must not be called (D8.9). Asks no DNS server: unknown names pass, and are checked when used. */
  check(webhooks: readonly WebhookInput[] = []): void {
    const violations: Violation[] = webhooks.flatMap(({ url }, index) =>
      // Not which address it was: visitors bring webhooks along, and names mean more inside of a network than outside.
      addressComplaint(this.#parts.guard, url) === null
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
  }: Attaching): Promise<readonly WebhookId[]> {
    if (webhooks.length === 0) return [];
    const { sql, sites } = this.#parts;
    const usual = (await sites.get(siteId))?.site.attached_webhook_messages ?? 'own';
    const wanted = webhooks
      .map((webhook) => subscriptionOf(webhook, usual))
      .map((webhook) => ({ webhook, digest: digestOf(side, attachedBy, webhook) }));
    const found = await touchAttached(sql, accountId, digestsOf(wanted));
    const missing = wanted.filter(({ digest }) => !found.has(digest));
    for (const { webhook, digest } of missing) await this.#insert({ accountId, side, attachedBy, webhook, digest });
    const all = missing.length === 0 ? found : await touchAttached(sql, accountId, digestsOf(wanted));
    return [...new Set(all.values())];
  }

  async #insert({ accountId, side, attachedBy, webhook, digest }: NewAttached): Promise<void> {
    const { sql, sealer } = this.#parts;
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

const forbiddenAddress =
  'is not where Usher may send anything: an attached webhook needs a public address, or one in USHER_WEBHOOK_ALLOW_CIDRS';

interface NewAttached {
  readonly accountId: AccountId;
  readonly side: Attaching['side'];
  readonly attachedBy: OperatorId | null;
  readonly webhook: WebhookSubscription;
  /** In hexadecimal. */
  readonly digest: string;
}

/** Of everything it says, in one order, and of the operator who brought it. */
function digestOf(side: Attaching['side'], attachedBy: OperatorId | null, webhook: WebhookSubscription): string {
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

function digestsOf(wanted: readonly { readonly digest: string }[]): string[] {
  return wanted.map(({ digest }) => digest);
}

/**
 * Those that are there already, by digest. One that nothing has brought along for long is dropped, so that is noted, daily;
 * one that is being dropped is not there. One that was disabled begins anew: nobody else could enable it.
 */
async function touchAttached(
  sql: Sql,
  accountId: AccountId,
  digests: readonly string[],
): Promise<Map<string, WebhookId>> {
  const rows = await sql<{ id: WebhookId; digest: string }[]>`
    WITH known AS (
           SELECT id, digest, attached_at, enabled
             FROM webhooks
            WHERE account_id = ${accountId} AND side IS NOT NULL
              AND digest = ANY(SELECT decode(each, 'hex') FROM unnest(${[...digests]}::text[]) AS each)),
         touched AS (
           UPDATE webhooks w
              SET attached_at = now(), enabled = true, disabled_because = NULL, disabled_at = NULL, failing_since = NULL
             FROM known
            WHERE w.id = known.id AND (NOT known.enabled OR known.attached_at < now() - interval '1 day')
           RETURNING w.id)
    SELECT id, encode(digest, 'hex') AS digest
      FROM known
     WHERE enabled AND attached_at >= now() - interval '1 day' OR id IN (SELECT id FROM touched)`;
  return new Map(rows.map(({ id, digest }) => [digest, id]));
}
