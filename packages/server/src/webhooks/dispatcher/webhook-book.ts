import { createSecretKey, type KeyObject } from 'node:crypto';
import { parseApnsUrl, type ApnsTarget } from '../../events/apns-url.ts';
import type { WebhookId } from '../../events/attach-webhooks.ts';
import type { DestinationId } from '../../events/destination.ts';
import { purposeOfSecret, secretBytes } from '../../events/webhook-secret.ts';
import type { Sealer } from '../../identity/sealer.ts';
import type { ChangeFeed } from '../../platform/change-feed.ts';
import type { Sql } from '../../platform/database.ts';
import { RowCache } from '../../platform/row-cache.ts';

export type WebhookSource = 'registered' | 'attached';

/** A webhook as it is called. */
export interface CalledWebhook {
  readonly id: WebhookId;
  readonly destinationId: DestinationId;
  /** `false`: it is disabled, or deleted, or about to be. */
  enabled: boolean;
  readonly deleted: boolean;
  /** By whom it came: `attached` with a ticket or request, `registered` by a super_manager. */
  readonly source: WebhookSource;
  readonly target: HttpTarget | (ApnsTarget & { readonly kind: 'apns' });
  /** The sites that a registered one hears of now; `null`: all. */
  readonly covers: ReadonlySet<string> | null;
  /** When it was given its address, or a later moment. */
  readonly registeredAt: Date;
  readonly updatedAt: Date;
  /** Since when nothing has arrived. Kept true by whoever calls it. */
  failingSince: Date | null;
}

export interface HttpTarget {
  readonly kind: 'http';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: KeyObject | null;
  readonly oldSecret: { readonly key: KeyObject; readonly until: Date } | null;
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
  readonly secret: Buffer | null;
  readonly oldSecret: Buffer | null;
  readonly oldSecretUntil: Date | null;
  readonly failingSince: Date | null;
  readonly updatedAt: Date;
  readonly attachedAt: Date | null;
  readonly covers: readonly string[] | null;
}

/** So many are kept in memory. */
const most = 10_000;

/** Webhooks by id, as they are now: whoever changes one tells all processes. */
export class WebhookBook {
  readonly #cache: RowCache<CalledWebhook | null>;

  constructor(sql: Sql, sealer: Sealer, feed: ChangeFeed) {
    this.#cache = new RowCache({
      feed,
      tables: ['webhooks'],
      load: async (id) => load(sql, sealer, id),
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

async function load(sql: Sql, sealer: Sealer, id: string): Promise<CalledWebhook | null> {
  const [row] = await sql<WebhookRow[]>`
    SELECT id, destination_id AS "destinationId", enabled, deleted_at IS NOT NULL AS deleted,
           CASE WHEN side IS NULL THEN 'registered' ELSE 'attached' END AS source, url, method, headers, secret, old_secret AS "oldSecret",
           old_secret_until AS "oldSecretUntil", failing_since AS "failingSince", updated_at AS "updatedAt", attached_at AS "attachedAt",
           covers
      FROM webhooks
     WHERE id = ${id}`;
  if (row === undefined) return null;
  return {
    id: row.id,
    destinationId: row.destinationId,
    enabled: row.enabled && !row.deleted,
    deleted: row.deleted,
    source: row.source,
    target: await targetOf(row, sealer),
    covers: row.covers === null ? null : new Set(row.covers),
    registeredAt: row.attachedAt ?? row.updatedAt,
    updatedAt: row.updatedAt,
    failingSince: row.failingSince,
  };
}

async function targetOf(row: WebhookRow, sealer: Sealer): Promise<CalledWebhook['target']> {
  const { id, url, method, oldSecretUntil } = row;
  if (method === null) {
    const target = parseApnsUrl(url);
    if ('faults' in target) throw new Error(`the webhook ${id} has an apns URL with faults`);
    return { kind: 'apns', ...target };
  }
  const { pathname, search } = new URL(url);
  const oldKey = await keyOf(row.oldSecret, id, sealer);
  return {
    kind: 'http',
    method,
    path: `${pathname}${search}`,
    headers: headersOf(row.headers),
    secret: await keyOf(row.secret, id, sealer),
    oldSecret: oldKey === null || oldSecretUntil === null ? null : { key: oldKey, until: oldSecretUntil },
  };
}

const agent = 'Usher-Webhooks/1';

/** What every request has. A registration may give another name for us, and another JSON type. */
function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  return {
    ...given,
    ...(names.has('user-agent') ? {} : { 'user-agent': agent }),
    ...(names.has('content-type') ? {} : { 'content-type': 'application/json' }),
  };
}

async function keyOf(sealed: Buffer | null, id: string, sealer: Sealer): Promise<KeyObject | null> {
  if (sealed === null) return null;
  const bytes = secretBytes(await sealer.open(sealed, purposeOfSecret(id)));
  if (bytes === null) throw new Error(`the secret of the webhook ${id} is none`);
  return createSecretKey(bytes);
}
