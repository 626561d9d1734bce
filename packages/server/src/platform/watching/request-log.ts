import type { FastifyRequest, onResponseHookHandler } from 'fastify';
import type { ErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from './metrics.ts';
import { probes } from './probes.ts';
import { givenTrace } from './trace.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that the request was answered with. Absent if it succeeded. */
    refusedWith?: ErrorCode;
  }
}

/**
 * Writes one log line per request and records its duration in the metrics. The line has the pattern of the route instead of the
 * URL, so that no query string and no personal data is logged; the caller is named by id.
 */
export function logRequests(
  log: Log,
  { requests }: Pick<Metrics, 'requests'>,
  callerOf: (request: FastifyRequest) => string,
): onResponseHookHandler {
  return (request, reply, done) => {
    const { method } = request;
    const route = (request.is404 ? undefined : request.routeOptions.url) ?? 'unknown';
    const status = reply.statusCode;
    requests.observe({ method, route, status }, reply.elapsedTime / 1_000);
    const repeated = method === 'POST' && reply.getHeader('idempotency-replayed') === 'true';
    log[probes.has(route) ? 'debug' : 'info']({
      request_id: request.id,
      method,
      route,
      status,
      ms: Math.round(reply.elapsedTime * 1_000) / 1_000,
      caller: callerOf(request),
      error: request.refusedWith,
      ...(repeated ? { replayed: true } : {}),
      ...traceFields(request),
    });
    done();
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
