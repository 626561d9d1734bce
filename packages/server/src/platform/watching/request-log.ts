import type { FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics, RouteTimes } from './metrics.ts';
import { probes } from './probes.ts';
import type { ForRoute } from '../http/request-path.ts';
import { givenTrace } from './trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that the request was answered with. Absent if it succeeded. */
    refusedWith?: ErrorCode;
  }
}

/** What is the same for all requests to a route. */
interface LoggedRoute {
  readonly level: 'info' | 'debug';
  readonly method: string;
  readonly pattern: string;
  readonly times: RouteTimes;
}

interface RequestLog {
  /** Logs a request to a path without a route. */
  readonly logUnknown: onResponseHookHandler;
  readonly logRequest: ForRoute<onResponseHookHandler>;
}

/**
 * Writes one log line per request and records its duration in the metrics. The line has the pattern of the route instead of the
 * URL, so that no query string and no personal data is logged; the caller is named by id.
 */
export function logRequests(
  log: Log,
  { requests }: Pick<Metrics, 'requests'>,
  callerOf: (request: FastifyRequest) => string,
): RequestLog {
  const logged = (method: string, route: string): LoggedRoute => ({
    level: probes.has(route) ? 'debug' : 'info',
    method,
    pattern: route,
    times: requests.of(method, route),
  });
  const record = (route: LoggedRoute, request: FastifyRequest, reply: FastifyReply): void => {
    const milliseconds = reply.elapsedTime;
    route.times.observe(reply.statusCode, milliseconds / 1000);
    const repeated = request.method === 'POST' && reply.getHeader('idempotency-replayed') === 'true';
    log[route.level]({
      request_id: request.id,
      method: route.method,
      route: route.pattern,
      status: reply.statusCode,
      ms: Math.round(milliseconds * 1_000) / 1_000,
      caller: callerOf(request),
      error: request.refusedWith,
      ...(repeated ? { replayed: true } : {}),
      ...traceFields(request),
    });
  };
  return {
    logUnknown(request, reply, done) {
      if (request.is404) record(logged(request.method, 'unknown'), request, reply);
      done();
    },
    logRequest({ method: given, url }) {
      const routes = new Map([given].flat().map((method) => [method, logged(method, url)]));
      return (request, reply, done) => {
        record(routes.get(request.method) ?? logged(request.method, url), request, reply);
        done();
      };
    },
  };
}

/** Ids of the trace, of the caller's span and of the request's own, in hexadecimal digits; empty if there is no trace. */
function traceFields(request: FastifyRequest): Readonly<Record<string, string>> {
  const { span } = request;
  const given = givenTrace(request);
  const traceId = span?.traceId ?? given?.traceId;
  if (traceId === undefined) return {};
  return {
    trace_id: traceId,
    ...(given === null ? {} : { parent_id: given.parentId }),
    ...(span?.isSampled === true ? { span_id: span.spanId } : {}),
  };
}
