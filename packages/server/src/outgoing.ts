import type { LookupFunction } from 'node:net';
import type { Config } from './config.ts';
import { UnresolvedNames } from './events/unresolved-names.ts';
import { AddressGuard } from './platform/address-guard.ts';
import type { App } from './platform/http.ts';
import type { Metrics } from './platform/metrics.ts';
import { watchNames } from './platform/names/metrics.ts';
import { NameResolver } from './platform/names/name-resolver.ts';

/** What connections to others need: their names resolved, and their addresses checked. */
export interface Outgoing {
  readonly names: NameResolver;
  /** For what settings name: the scanner, the carrier, Apple. */
  readonly lookup: LookupFunction;
  /** For registered webhooks and identity providers. */
  readonly guard: AddressGuard;
  /** For webhooks that come with a ticket or request. */
  readonly attached: { readonly guard: AddressGuard; readonly unresolved: UnresolvedNames };
}

export function openOutgoing(app: App, config: Config, metrics: Metrics): Outgoing {
  const names = new NameResolver({ servers: config.dnsServers });
  app.addHook('onClose', async () => names.close());
  watchNames(metrics.registry, names);
  const attachedGuard = new AddressGuard(config.attachedWebhookAllowCidrs, names);
  return {
    names,
    lookup: names.lookupFor('settings'),
    guard: new AddressGuard(config.webhookAllowCidrs, names),
    attached: { guard: attachedGuard, unresolved: new UnresolvedNames(names) },
  };
}
