import type { FastifyRequest } from 'fastify';
import type { App } from './http.ts';
import { writeLine, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * Writes one log line per request and records its duration in the metrics. The line has the pattern of the route instead of the
 * URL, so that no query string and no personal data is logged; the caller is named by id.
 */
export function installRequestLog(
  app: App,
  log: Log,
  metrics: Metrics,
  callerOf: (request: FastifyRequest) => string,
): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const milliseconds = reply.elapsedTime;
    metrics.requests.observe(request.method, route, reply.statusCode, milliseconds / 1000);
    const repeated = request.method === 'POST' && reply.getHeader('idempotency-replayed') === 'true';
    const replayed = repeated ? ',"replayed":true' : '';
    // None of these values can contain a character that JSON escapes: ids, route patterns, HTTP methods.
    const requestFields = `"request_id":"${request.id}","method":"${request.method}","route":"${route}"`;
    const responseFields = `"status":${reply.statusCode},"ms":${Math.round(milliseconds * 1000) / 1000},"caller":"${callerOf(request)}"`;
    writeLine(log, `${requestFields},${responseFields}${replayed}`);
    done();
  });
}
