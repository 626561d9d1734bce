import type { buildConnector } from 'undici';
import type { AddressGuard } from '../../../platform/address-guard.ts';
import { BoundedMap } from '../../../platform/bounded-map.ts';
import { guardedConnector } from '../../../platform/guarded-connector.ts';
import type { AccountId } from '../../../platform/ids.ts';
import type { WebhookSource } from '../channel.ts';

/** D8.5. */
const connectMs = 5_000;
/** Kept for their TLS sessions; one that is dropped is made again. */
const mostConnectors = 2_000;

/**
 * How receivers are connected to: by which guard depends on who brought the webhook, and lookups of names are counted by
 * account.
 */
export class WebhookConnectors {
  readonly #guards: Readonly<Record<WebhookSource, AddressGuard>>;
  readonly #connectors = new BoundedMap<string, buildConnector.connector>(mostConnectors);

  constructor(guards: Readonly<Record<WebhookSource, AddressGuard>>) {
    this.#guards = guards;
  }

  for(accountId: AccountId, source: WebhookSource): buildConnector.connector {
    const key = `${source} ${accountId}`;
    const known = this.#connectors.get(key);
    if (known !== undefined) return known;
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
