import type { FastifyRequest, onRequestHookHandler, onResponseHookHandler } from 'fastify';
import type { Hints } from './events/hints.ts';
import type { Events } from './events/room.ts';
import { assertPermitted, authenticate, authorize, declareAccess } from './identity/access.ts';
import { declareAudits, writeAudit } from './identity/audit/write-audit.ts';
import { isFromPage } from './identity/caller.ts';
import { allowCrossOrigin, preflightRoute } from './identity/cors.ts';
import { installLenientSites } from './identity/lenient-requests.ts';
import type { Identity } from './identity/room.ts';
import { countConnections } from './platform/connection-metrics.ts';
import { strangers } from './platform/connection-shares.ts';
import { isReadOnly, type App } from './platform/http.ts';
import { answerOnce, type IdempotencyScope } from './platform/idempotency.ts';
import { describeRoutes } from './platform/openapi/document.ts';
import { paceRefusals } from './platform/paced-refusals.ts';
import { AddressRate, RateLimit } from './platform/rate-limit.ts';
import { discardIfLate, endDeadline, keepAnswer } from './platform/request-deadline.ts';
import { logRequests } from './platform/request-log.ts';
import { installPath, type ForRoute } from './platform/request-path.ts';
import type { Platform } from './platform/room.ts';
import { settle } from './platform/settling.ts';
import { traceHandler } from './platform/trace.ts';
import { beginSpan, endSpan } from './platform/tracing/request-spans.ts';
import { trustedCallers } from './platform/tracing/trusted-callers.ts';

/** Failed authentications that one IP address may make per minute. */
const failuresPerMinute = 300;

interface Rooms {
  readonly platform: Platform;
  readonly identity: Identity;
  readonly events: Events;
}

/**
 * The path of every request, from top to bottom. Before it, `create-app.ts` starts the deadline and gives the request its id; between
 * `onRequest` and `preHandler` Fastify reads the body and validates the request; `judge-request.ts` then refuses what is invalid.
 */
export async function installEdge(app: App, { platform, identity, events }: Rooms): Promise<void> {
  const { config, log, metrics, limits, lookups, changes, tracer } = platform;
  const { directory, authenticator } = identity;
  const { logRequest, logUnknown } = logRequests(log, metrics, ({ caller }) => caller.key);
  // Behind a proxy all sockets belong to the proxy, so they cannot be counted per caller.
  const areDirect = config.trustProxy === false;
  const connections = countConnections(metrics.registry, app.server, { limits, areDirect });
  installPath(app, {
    atRegistration: [declareAccess(app), declareAudits(app)],
    onRequest: {
      all: tracer === null ? [] : [beginSpan(tracer, trustedCallers(config.tracing?.trustedNetworks ?? []))],
      perRoute: [
        // Who calls (401), how often (429), and whether the route is for such callers (403).
        authenticate({
          authenticator,
          perToken: new RateLimit(config.rateLimitPerToken),
          perAddress: new AddressRate(config.rateLimitPerToken),
          failures: new RateLimit(failuresPerMinute),
          onTrusted: (socket) => connections.trust(socket),
        }),
        limitChanges(platform),
      ],
    },
    preHandler: { perRoute: [authorize] },
    // The first is the outermost. A transaction of a key contains the audit entry and the change.
    aroundHandler: [() => discardIfLate(log), answerOnce(scopeOf), writeAudit, () => traceHandler],
    onSend: {
      all: [
        allowCrossOrigin(directory),
        paceRefusals({ isPaced: ({ caller }) => caller.kind === 'anonymous' || isFromPage(caller), areDirect }),
        keepAnswer,
      ],
      perRoute: [assertPermitted, settle(changes)],
    },
    onResponse: {
      all: [logUnknown, ...(tracer === null ? [] : [endSpan]), endDeadline],
      perRoute: [hintAfterChanges(events.hints), logRequest],
    },
  });
  installLenientSites(app, lookups);
  preflightRoute(app, directory);
  await describeRoutes(app);
}

/** Gives each change the share of its account in the connections. The caller is known by then. */
function limitChanges({ database, shares }: Platform): ForRoute<onRequestHookHandler> {
  const limit: onRequestHookHandler = (request, _reply, done) => {
    const { caller } = request;
    request.sql = shares.poolOf(database.sql, caller.kind === 'anonymous' ? strangers : caller.accountId);
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
