import type { buildConnector } from 'undici';
import type { AddressGuard } from '../../platform/outbound/address-guard.ts';
import { BoundedMap } from '../../platform/bounded-map.ts';
import { guardedConnector } from '../../platform/outbound/guarded-connector.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { WebhookSource } from '../channel.ts';

/** D8.5. */
const connectMs = 5_000;
/** Connectors are cached for their TLS sessions; beyond this many the oldest is dropped. */
const maxConnectors = 2_000;

/**
 * Connectors to receivers, by account and by source: the source decides which addresses are allowed, and lookups of names are
 * limited per account.
 */
export class WebhookConnectors {
  readonly #guards: Readonly<Record<WebhookSource, AddressGuard>>;
  readonly #connectors = new BoundedMap<string, buildConnector.connector>(maxConnectors);

  constructor(guards: Readonly<Record<WebhookSource, AddressGuard>>) {
    this.#guards = guards;
  }

  for(accountId: AccountId, source: WebhookSource): buildConnector.connector {
    const key = `${source} ${accountId}`;
    const cached = this.#connectors.get(key);
    if (cached !== undefined) return cached;
    const connector = guardedConnector({
      guard: this.#guards[source],
      plainHttp: 'anywhere',
      timeoutMs: connectMs,
      holder: accountId,
    });
    this.#connectors.set(key, connector);
    return connector;
  }
}
