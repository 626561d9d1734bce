import type { FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify';
import type { ErrorCode } from './errors.ts';
import { writeLine, type Log } from './log.ts';
import type { Metrics, RouteTimes } from './metrics.ts';
import { probes } from './probes.ts';
import type { ForRoute } from './request-path.ts';
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
  /** The beginning of the log line. */
  readonly fields: string;
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
    fields: `"method":"${method}","route":"${route}"`,
    times: requests.of(method, route),
  });
  const record = (route: LoggedRoute, request: FastifyRequest, reply: FastifyReply): void => {
    const milliseconds = reply.elapsedTime;
    route.times.observe(reply.statusCode, milliseconds / 1000);
    const repeated = request.method === 'POST' && reply.getHeader('idempotency-replayed') === 'true';
    const error = request.refusedWith === undefined ? '' : `,"error":"${request.refusedWith}"`;
    // None of these values can contain a character that JSON escapes: ids, route patterns, HTTP methods.
    writeLine(
      log,
      route.level,
      `"request_id":"${request.id}",${route.fields},"status":${reply.statusCode},"ms":${decimal(milliseconds)},"caller":"${callerOf(request)}"${error}${repeated ? ',"replayed":true' : ''}${traceFields(request)}`,
    );
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
function traceFields(request: FastifyRequest): string {
  const { span } = request;
  const given = givenTrace(request);
  const traceId = span?.traceId ?? given?.traceId;
  if (traceId === undefined) return '';
  const parent = given === null ? '' : `,"parent_id":"${given.parentId}"`;
  const own = span?.isSampled === true ? `,"span_id":"${span.spanId}"` : '';
  return `,"trace_id":"${traceId}"${parent}${own}`;
}

const thousandths = Array.from({ length: 1_000 }, (_, n) => `.${String(n).padStart(3, '0')}`);

/** With three decimals. Converting a fraction to text takes V8 several times as long. */
function decimal(value: number): string {
  const total = Math.round(value * 1_000);
  return `${Math.trunc(total / 1_000)}${thousandths[total % 1_000] ?? ''}`;
}
