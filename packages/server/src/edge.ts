import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { Hints } from './events/hints.ts';
import type { Events } from './events/room.ts';
import { installAccess } from './identity/access.ts';
import { installAudit } from './identity/audit/install-audit.ts';
import type { Authenticator } from './identity/authenticate.ts';
import { isFromPage } from './identity/caller.ts';
import { installCors } from './identity/cors.ts';
import { installLenientSites } from './identity/lenient-requests.ts';
import type { Identity } from './identity/room.ts';
import { countConnections } from './platform/watching/connection-metrics.ts';
import { strangers } from './platform/database/connection-shares.ts';
import { isReadOnly, type App } from './platform/http/http.ts';
import { installIdempotency } from './platform/http/idempotency.ts';
import { describeRoutes } from './platform/reference/openapi/document.ts';
import { installPacedRefusals } from './platform/http/paced-refusals.ts';
import { AddressRate, RateLimit } from './platform/limits/rate-limit.ts';
import { installDeadline } from './platform/http/request-deadline.ts';
import { installRequestLog } from './platform/watching/request-log.ts';
import type { Platform } from './platform/room.ts';
import { installSettling } from './platform/http/settling.ts';
import { installTrace } from './platform/watching/trace.ts';
import { installRequestSpans } from './platform/watching/tracing/request-spans.ts';
import { trustedCallers } from './platform/watching/tracing/trusted-callers.ts';

/** Failed authentications that one IP address may make per minute. */
const failuresPerMinute = 300;

interface Rooms {
  readonly platform: Platform;
  readonly identity: Identity;
  readonly events: Events;
}

/**
 * Installs the hooks that all routes share. A hook affects the routes registered after it. A hook that wraps handlers also wraps
 * the wrappers installed before it.
 */
export async function installEdge(app: App, { platform, identity, events }: Rooms): Promise<void> {
  const { config, log, metrics, lookups, changes, tracer } = platform;
  const { directory, authenticator } = identity;
  installRequestLog(app, log, metrics, (request) => request.caller.key);
  installTrace(app);
  if (tracer !== null) installRequestSpans(app, tracer, trustedCallers(config.tracing?.trustedNetworks ?? []));
  hintAfterChanges(app, events.hints);
  installCors(app, directory);
  limitCallers(app, platform, authenticator);
  limitChanges(app, platform);
  installLenientSites(app, lookups);
  installSettling(app, changes);
  installAudit(app);
  installIdempotency(app, ({ caller }) => {
    // Strangers share a publishable token, and must not receive each other's responses.
    if (caller.kind === 'anonymous' || (caller.kind === 'application' && caller.trust === 'publishable')) return null;
    return { accountId: caller.accountId, caller: caller.key };
  });
  installDeadline(app, log);
  await describeRoutes(app);
}

/**
 * Hints to other processes that the log has grown. A request has committed its changes when its response is sent; background
 * work sends its own hints.
 */
function hintAfterChanges(app: App, hints: Hints): void {
  app.addHook('onRoute', (route) => {
    if (isReadOnly(route) || route.config?.sendsOwnHint === true) return;
    const hint = ({ caller }: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
      if (reply.statusCode < 400 && caller.kind !== 'anonymous') hints.notify(caller.accountId);
      done();
    };
    route.onResponse = [hint, ...(route.onResponse === undefined ? [] : [route.onResponse].flat())];
  });
}

/** Gives each change the pool of its account. Installed after access control, so that the caller is known. */
function limitChanges(app: App, { database, shares }: Platform): void {
  const limit = (request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { caller } = request;
    request.sql = shares.poolOf(database.sql, caller.kind === 'anonymous' ? strangers : caller.accountId);
    done();
  };
  app.addHook('onRoute', (route) => {
    if (isReadOnly(route)) return;
    route.onRequest = [...(route.onRequest === undefined ? [] : [route.onRequest].flat()), limit];
  });
}

/** Installs access control and its limits: who may call, how often, and over how many sockets. */
function limitCallers(app: App, platform: Platform, authenticator: Authenticator): void {
  const { config, limits, metrics } = platform;
  // Behind a proxy all sockets belong to the proxy, so they cannot be counted per caller.
  const areDirect = config.trustProxy === false;
  const connections = countConnections(metrics.registry, app.server, { limits, areDirect });
  installPacedRefusals(app, {
    isPaced: ({ caller }) => caller.kind === 'anonymous' || isFromPage(caller),
    areDirect,
  });
  installAccess(app, {
    authenticator,
    perToken: new RateLimit(config.rateLimitPerToken),
    perAddress: new AddressRate(config.rateLimitPerToken),
    failures: new RateLimit(failuresPerMinute),
    onTrusted: (socket) => connections.trust(socket),
  });
}
