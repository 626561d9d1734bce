import type { Config } from './config.ts';
import { installAccess } from './identity/access.ts';
import type { Authenticator } from './identity/authenticate.ts';
import { isFromPage } from './identity/caller.ts';
import { connectionLimits, openFileLimit, type ConnectionLimits } from './platform/connection-limits.ts';
import { countConnections } from './platform/connection-metrics.ts';
import type { App } from './platform/http.ts';
import type { Log } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import { installPacedRefusals } from './platform/paced-refusals.ts';
import { AddressRate, RateLimit } from './platform/rate-limit.ts';
import { warnOfProxy } from './platform/warn-of-proxy.ts';

/** An address may fail to authenticate so often in a minute, with tokens that are none above all. */
const failuresPerMinute = 300;

interface LimitedParts {
  readonly config: Config;
  readonly log: Log;
  readonly app: App;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
}

/** Installs access and its limits: who may call, how often, and over how many sockets. */
export function limitCallers({ app, config, log, authenticator, metrics }: LimitedParts): ConnectionLimits {
  const limits = connectionLimits(openFileLimit());
  // Behind a proxy all sockets belong to the proxy, so they cannot be counted by caller.
  const areDirect = config.trustProxy === false;
  const connections = countConnections(metrics.registry, app.server, { limits, areDirect });
  if (areDirect) warnOfProxy(app, log);
  installPacedRefusals(app, {
    isPaced: ({ caller }) => caller.kind === 'nobody' || isFromPage(caller),
    areDirect,
  });
  installAccess(app, {
    authenticator,
    perToken: new RateLimit(config.rateLimitPerToken),
    perAddress: new AddressRate(config.rateLimitPerToken),
    failures: new RateLimit(failuresPerMinute),
  });
  app.addHook('preValidation', ({ caller, raw }, _reply, done) => {
    if (caller.kind !== 'nobody' && !isFromPage(caller)) connections.trust(raw.socket);
    done();
  });
  return limits;
}
