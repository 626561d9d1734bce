import type { WebhookId } from '../../../events/subscriptions/attach-webhooks.ts';
import type { DestinationId } from '../../../events/subscriptions/destination.ts';
import { purposeOfCredentials, purposeOfSecret, secretBytes } from '../../../channels/webhook-secret.ts';
import type { Sealer } from '../../../identity/sealer.ts';
import type { RowChanges } from '../../../platform/database/row-changes.ts';
import type { Sql } from '../../../platform/database/database.ts';
import { RowCache } from '../../../platform/database/row-cache.ts';
import type { Channel, Send, SigningKeys, WebhookSource } from '../../../channels/channel.ts';
import { HmacKey } from '../../../channels/hmac-key.ts';
import type { OpenChannels } from '../../../channels/open-channels.ts';
import type { Outage } from '../../outage.ts';

/** What the dispatcher needs to know about a webhook. */
export interface CachedWebhook {
  readonly id: WebhookId;
  readonly destinationId: DestinationId;
  /** `false`: the webhook is disabled or deleted, or about to be. */
  enabled: boolean;
  readonly deleted: boolean;
  readonly send: Send;
  readonly endsBecause: Channel['endsBecause'];
  /** The sites that a registered webhook covers now; `null`: all. */
  readonly covers: ReadonlySet<string> | null;
  readonly updatedAt: Date;
  /** `null`: the webhook works. `WebhookHealth` updates this field. */
  outage: Outage | null;
  /** Its failure was reported, and so will its next success be. `WebhookHealth` updates this field. */
  isAlarmed: boolean;
}

interface WebhookRow {
  readonly id: WebhookId;
  readonly destinationId: DestinationId;
  readonly enabled: boolean;
  readonly deleted: boolean;
  readonly source: WebhookSource;
  readonly url: string;
  readonly method: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: Buffer | null;
  readonly secret: Buffer | null;
  readonly oldSecret: Buffer | null;
  readonly oldSecretUntil: Date | null;
  readonly failingSince: Date | null;
  readonly failedAt: Date | null;
  readonly succeededAt: Date | null;
  readonly isAlarmed: boolean;
  readonly updatedAt: Date;
  readonly attachedAt: Date | null;
  readonly covers: readonly string[] | null;
}

interface WebhookCacheDependencies {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly changes: RowChanges;
  readonly channels: OpenChannels;
}

/** Webhooks in the cache. */
const cacheSize = 10_000;

/** Caches webhooks by id. Every change of a webhook is announced to all processes, which drop it from the cache. */
export class WebhookCache {
  readonly #cache: RowCache<CachedWebhook | null>;

  constructor(deps: WebhookCacheDependencies) {
    this.#cache = new RowCache({
      changes: deps.changes,
      tables: ['webhooks'],
      load: async (id) => load(deps, id),
      limit: cacheSize,
    });
  }

  /** `undefined`: not in the cache. `null`: there is no such webhook. */
  peek(id: WebhookId): CachedWebhook | null | undefined {
    return this.#cache.peek(id);
  }

  async get(id: WebhookId): Promise<CachedWebhook | null> {
    return this.#cache.get(id);
  }
}

async function load({ sql, sealer, channels }: WebhookCacheDependencies, id: string): Promise<CachedWebhook | null> {
  const [row] = await sql<WebhookRow[]>`
    SELECT id, destination_id AS "destinationId", enabled, deleted_at IS NOT NULL AS deleted,
           CASE WHEN side IS NULL THEN 'registered' ELSE 'attached' END AS source, url, method, headers, credentials, secret, old_secret AS "oldSecret",
           old_secret_until AS "oldSecretUntil", failing_since AS "failingSince", failed_at AS "failedAt",
           succeeded_at AS "succeededAt", updated_at AS "updatedAt", attached_at AS "attachedAt", alarmed_at IS NOT NULL AS "isAlarmed", covers
      FROM webhooks
     WHERE id = ${id}`;
  if (row === undefined) return null;
  const [{ endsBecause }, channel] = channels.of(row.url);
  const keys = await keysOf(row, sealer);
  const credentials = await credentialsOf(row, sealer);
  return {
    id: row.id,
    destinationId: row.destinationId,
    enabled: row.enabled && !row.deleted,
    deleted: row.deleted,
    send: channel.senderFor({ ...row, credentials, keys, registeredAt: row.attachedAt ?? row.updatedAt }),
    endsBecause,
    covers: row.covers === null ? null : new Set(row.covers),
    updatedAt: row.updatedAt,
    outage: outageOf(row),
    isAlarmed: row.isAlarmed,
  };
}

function outageOf({ failingSince, failedAt, succeededAt }: WebhookRow): Outage | null {
  if (failingSince === null) return null;
  const since = failingSince.getTime();
  return { since, failedAt: failedAt?.getTime() ?? since, succeededAt: succeededAt?.getTime() ?? null };
}

async function keysOf({ id, secret, oldSecret, oldSecretUntil }: WebhookRow, sealer: Sealer): Promise<SigningKeys> {
  const oldKey = await keyOf(oldSecret, id, sealer);
  return {
    current: await keyOf(secret, id, sealer),
    former: oldKey === null || oldSecretUntil === null ? null : { key: oldKey, until: oldSecretUntil },
  };
}

async function credentialsOf(
  { id, credentials }: WebhookRow,
  sealer: Sealer,
): Promise<Readonly<Record<string, string>> | null> {
  if (credentials === null) return null;
  return JSON.parse(await sealer.open(credentials, purposeOfCredentials(id))) as Record<string, string>;
}

async function keyOf(sealed: Buffer | null, id: string, sealer: Sealer): Promise<HmacKey | null> {
  if (sealed === null) return null;
  const bytes = secretBytes(await sealer.open(sealed, purposeOfSecret(id)));
  if (bytes === null) throw new Error(`the secret of the webhook ${id} is invalid`);
  return new HmacKey(bytes);
}
