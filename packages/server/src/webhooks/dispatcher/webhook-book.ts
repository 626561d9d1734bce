import { createSecretKey, type KeyObject } from 'node:crypto';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import { purposeOfCredentials, purposeOfSecret, secretBytes } from '../channels/webhook-secret.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { RowChanges } from '../../platform/row-changes.ts';
import type { Sql } from '../../platform/database.ts';
import { RowCache } from '../../platform/row-cache.ts';
import type { Channel, Send, SigningKeys, WebhookSource } from '../channels/channel.ts';
import type { OpenChannels } from '../channels/open-channels.ts';

/** A webhook as it is called. */
export interface CalledWebhook {
  readonly id: WebhookId;
  readonly destinationId: DestinationId;
  /** `false`: it is disabled, or deleted, or about to be. */
  enabled: boolean;
  readonly deleted: boolean;
  readonly send: Send;
  readonly endsBecause: Channel['endsBecause'];
  /** The sites that a registered one hears of now; `null`: all. */
  readonly covers: ReadonlySet<string> | null;
  readonly updatedAt: Date;
  /** Since when nothing has arrived. Kept true by whoever calls it. */
  failingSince: Date | null;
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
  readonly updatedAt: Date;
  readonly attachedAt: Date | null;
  readonly covers: readonly string[] | null;
}

interface BookParts {
  readonly sql: Sql;
  readonly sealer: Sealer;
  readonly changes: RowChanges;
  readonly channels: OpenChannels;
}

/** So many are kept in memory. */
const most = 10_000;

/** Webhooks by id, as they are now: whoever changes one tells all processes. */
export class WebhookBook {
  readonly #cache: RowCache<CalledWebhook | null>;

  constructor(parts: BookParts) {
    this.#cache = new RowCache({
      changes: parts.changes,
      tables: ['webhooks'],
      load: async (id) => load(parts, id),
      limit: most,
    });
  }

  /** `undefined`: it has to be read. `null`: there is none. */
  peek(id: WebhookId): CalledWebhook | null | undefined {
    return this.#cache.peek(id);
  }

  async get(id: WebhookId): Promise<CalledWebhook | null> {
    return this.#cache.get(id);
  }
}

async function load({ sql, sealer, channels }: BookParts, id: string): Promise<CalledWebhook | null> {
  const [row] = await sql<WebhookRow[]>`
    SELECT id, destination_id AS "destinationId", enabled, deleted_at IS NOT NULL AS deleted,
           CASE WHEN side IS NULL THEN 'registered' ELSE 'attached' END AS source, url, method, headers, credentials, secret, old_secret AS "oldSecret",
           old_secret_until AS "oldSecretUntil", failing_since AS "failingSince", updated_at AS "updatedAt", attached_at AS "attachedAt",
           covers
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
    failingSince: row.failingSince,
  };
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

async function keyOf(sealed: Buffer | null, id: string, sealer: Sealer): Promise<KeyObject | null> {
  if (sealed === null) return null;
  const bytes = secretBytes(await sealer.open(sealed, purposeOfSecret(id)));
  if (bytes === null) throw new Error(`the secret of the webhook ${id} is none`);
  return createSecretKey(bytes);
}
