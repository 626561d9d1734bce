import type { FastifyReply, FastifyRequest, onRequestHookHandler, onResponseHookHandler } from 'fastify';
import { probes } from '../probes.ts';
import { givenTrace } from '../trace.ts';
import type { SpanDescription, Tracer } from './tracer.ts';

/**
 * Makes a span of each request except probes. It begins when the headers have arrived, and ends with the response. `isTrusted` tells by
 * the address of a caller whether their `traceparent` may decide about sampling.
 */
export function beginSpan(tracer: Tracer, isTrusted: (address: string) => boolean): onRequestHookHandler {
  return (request, _reply, done) => {
    if (!probes.has(request.routeOptions.url ?? '')) {
      const given = givenTrace(request);
      request.span = tracer.begin(given, given !== null && isTrusted(request.ip) ? 'trusted' : 'stranger');
    }
    done();
  };
}

export const endSpan: onResponseHookHandler = (request, reply, done) => {
  if (request.span?.isSampled === true) request.span.end(describe(request, reply));
  done();
};

/** The methods that the semantic conventions know. Others would be names that a caller invents. */
const knownMethods: ReadonlySet<string> = new Set([
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'QUERY',
  'TRACE',
]);

/** The pattern of the route is in place of the path, as in the log: no ids, no query string, no personal data. */
function describe(request: FastifyRequest, { statusCode }: FastifyReply): SpanDescription {
  const method = knownMethods.has(request.method) ? request.method : '_OTHER';
  const route = request.is404 ? undefined : request.routeOptions.url;
  return {
    name: [method === '_OTHER' ? 'HTTP' : method, ...(route === undefined ? [] : [route])].join(' '),
    kind: 'server',
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': statusCode,
      'url.scheme': request.protocol,
      'usher.request.id': request.id,
      'usher.error.code': request.refusedWith,
    },
    ...(statusCode < 500 ? {} : { errorType: String(statusCode) }),
  };
}
