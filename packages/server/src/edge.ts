import type { FastifyRequest, onRequestHookHandler, onResponseHookHandler } from 'fastify';
import type { Hints } from './events/hints.ts';
import type { Events } from './events/room.ts';
import { assertPermitted, authenticate, authorize, declareAccess, type AccessOptions } from './identity/access.ts';
import { declareAudits, isAudited, writeAudit } from './identity/audit/write-audit.ts';
import { isFromPage } from './identity/caller.ts';
import { allowCrossOrigin, preflightRoute } from './identity/cors.ts';
import { installLenientSites } from './identity/lenient-requests.ts';
import type { Identity } from './identity/room.ts';
import { countConnections } from './platform/watching/connection-metrics.ts';
import { strangers } from './platform/database/connection-shares.ts';
import { isReadOnly, type App } from './platform/http/http.ts';
import { answerOnce, hasKey, type IdempotencyScope } from './platform/http/idempotency.ts';
import { describeRoutes } from './platform/reference/openapi/document.ts';
import { paceRefusals } from './platform/http/paced-refusals.ts';
import { AddressRate, RateLimit } from './platform/limits/rate-limit.ts';
import { discardIfLate, endDeadline, keepAnswer, startDeadline } from './platform/http/request-deadline.ts';
import { logRequests } from './platform/watching/request-log.ts';
import { installPath, type ForRoute } from './platform/http/request-path.ts';
import { inOneTransaction, setSql } from './platform/http/request-transaction.ts';
import type { Platform } from './platform/room.ts';
import { waitForCaches } from './platform/http/wait-for-caches.ts';
import { traceHandler } from './platform/watching/trace.ts';
import { beginSpan, endSpan } from './platform/watching/tracing/request-spans.ts';
import { trustedCallers } from './platform/watching/tracing/trusted-callers.ts';

/** Failed authentications that one IP address may make per minute. */
const failuresPerMinute = 300;

interface Rooms {
  readonly platform: Platform;
  readonly identity: Identity;
  readonly events: Events;
}

/**
 * What happens to a request, from top to bottom. Before the first step `create-app.ts` has given the request its id, the pool and the
 * security headers. A route may have hooks of its own; they run after the steps of the same moment.
 */
export async function installEdge(app: App, { platform, identity, events }: Rooms): Promise<void> {
  const { config, log, metrics, lookups, changes, tracer } = platform;
  const { directory } = identity;
  const isTrusted = trustedCallers(config.tracing?.trustedNetworks ?? []);
  // Behind a proxy all sockets belong to the proxy, so they cannot be counted per caller.
  const areDirect = config.trustProxy === false;
  installPath(app, {
    // Every route says who may call it and whether its changes are audited.
    atRegistration: [declareAccess(app), declareAudits(app)],
    // The headers have arrived.
    onRequest: {
      all: [startDeadline, ...(tracer === null ? [] : [beginSpan(tracer, isTrusted)])],
      perRoute: [
        // Refuses unknown callers (401), too many requests (429), and callers whom the route is not for (403).
        authenticate(limitsOf(app, platform, identity, areDirect)),
        shareConnections(platform),
      ],
    },
    // Fastify has read and validated the body, and `check-request.ts` has refused what is invalid (422).
    preHandler: {
      // Refuses operators without the role on the sites that the request names (403).
      perRoute: [authorize],
    },
    // The first step is the outermost; inside of the last one the handler runs.
    aroundHandler: [
      () => discardIfLate(log),
      // `request.sql` is this transaction from here to the handler.
      inOneTransaction(hasKey(scopeOf), isAudited),
      // Answers a repeated Idempotency-Key as before, without the steps inside.
      answerOnce(scopeOf),
      writeAudit,
      () => traceHandler,
    ],
    // The handler has returned its answer, or there is a refusal.
    onSend: {
      all: [
        allowCrossOrigin(directory),
        paceRefusals({ isPaced, areDirect }),
        // From here on the deadline does not replace the answer.
        keepAnswer,
      ],
      perRoute: [
        // Fails if the handler had to check permission and did not (500).
        assertPermitted,
        // Waits until this process has seen the change, if its caches depend on it.
        waitForCaches(changes),
      ],
    },
    // The response has been sent.
    onResponse: {
      all: [logRequests(log, metrics, ({ caller }) => caller.key), ...(tracer === null ? [] : [endSpan]), endDeadline],
      perRoute: [hintAfterChanges(events.hints)],
    },
  });
  installLenientSites(app, lookups);
  preflightRoute(app, directory);
  await describeRoutes(app);
}

/** How often callers may call, and over how many sockets. */
function limitsOf(app: App, platform: Platform, { authenticator }: Identity, areDirect: boolean): AccessOptions {
  const { config, metrics, limits, sharedUses } = platform;
  const connections = countConnections(metrics.registry, app.server, { limits, areDirect });
  return {
    authenticator,
    perToken: new RateLimit('token', config.rateLimitPerToken, sharedUses),
    perAddress: new AddressRate(config.rateLimitPerToken, sharedUses),
    failures: new RateLimit('failures', failuresPerMinute, sharedUses),
    onTrusted: (socket) => connections.trust(socket),
  };
}

function isPaced({ caller }: FastifyRequest): boolean {
  return caller.kind === 'anonymous' || isFromPage(caller);
}

/** Gives each change the share of its account in the connections. The caller is known by then. */
function shareConnections({ database, shares }: Platform): ForRoute<onRequestHookHandler> {
  const limit: onRequestHookHandler = (request, _reply, done) => {
    const { caller } = request;
    setSql(request, shares.poolOf(database.sql, caller.kind === 'anonymous' ? strangers : caller.accountId));
    done();
  };
  return (route) => (isReadOnly(route) ? null : limit);
}

/** Strangers share a publishable token, and must not receive each other's responses. */
function scopeOf({ caller }: FastifyRequest): IdempotencyScope | null {
  if (caller.kind === 'anonymous' || (caller.kind === 'application' && caller.trust === 'publishable')) return null;
  return { accountId: caller.accountId, caller: caller.key };
}

/**
 * Hints to other processes that the log has grown. A request has committed its changes when its response is sent; background
 * work sends its own hints.
 */
function hintAfterChanges(hints: Hints): ForRoute<onResponseHookHandler> {
  const hint: onResponseHookHandler = ({ caller }, reply, done) => {
    if (reply.statusCode < 400 && caller.kind !== 'anonymous') hints.notify(caller.accountId);
    done();
  };
  return (route) => (isReadOnly(route) || route.config?.sendsOwnHint === true ? null : hint);
}
