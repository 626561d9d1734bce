import type { FastifyRequest } from 'fastify';
import type { App } from './http.ts';
import { writeLine, type Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/**
 * One wide line a request, and its time into the metrics. The route's pattern stands for the address, so that neither
 * query strings nor anything personal is written; ids say who.
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
    // None of these can hold a character that JSON escapes: ids, patterns of ours, methods Node knows.
    const asked = `"request_id":"${request.id}","method":"${request.method}","route":"${route}"`;
    const answered = `"status":${reply.statusCode},"ms":${Math.round(milliseconds * 1000) / 1000},"caller":"${callerOf(request)}"`;
    writeLine(log, `${asked},${answered}${replayed}`);
    done();
  });
}
