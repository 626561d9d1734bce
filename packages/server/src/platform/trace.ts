import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';
import type { App } from './http.ts';
import type { Span } from './tracing/tracer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request. Absent if tracing is not configured, and for probes. */
    span?: Span;
  }
}

/** The W3C trace context of a request: it is logged, stored with the events that the request causes, and passed on in webhooks. */
export interface Trace {
  /** The header. Without a tracer, which would name a span of its own, webhooks pass it on as it is. */
  readonly traceparent: string;
  readonly traceId: string;
  readonly parentId: string;
  /** Whether the caller reports its spans. */
  readonly isSampled: boolean;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const zeros = /^0+$/;
const sampledFlag = 1;

/**
 * Reads a `traceparent` header. As the specification asks, an invalid one is ignored, and of a later version only the known fields
 * are used.
 */
export function readTraceparent(header: unknown): Trace | null {
  const [, version, traceId = '', parentId = '', flags = '', more] =
    typeof header === 'string' ? (form.exec(header) ?? []) : [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (zeros.test(traceId) || zeros.test(parentId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & sampledFlag) !== 0;
  return { traceparent: `00-${traceId}-${parentId}-${flags}`, traceId, parentId, isSampled };
}

/** A request that is being handled. Background work that a handler starts inherits it, so it is over when the handler is done. */
interface TracedRequest {
  readonly traceparent: string;
  isOver: boolean;
}

const requests = new AsyncLocalStorage<TracedRequest>();

/**
 * What the events of the request that is being handled have as their parent: its span, or without a tracer its own parent. `null`: no
 * request is being handled, or it has no trace.
 */
export function currentTraceparent(): string | null {
  const request = requests.getStore();
  return request === undefined || request.isOver ? null : request.traceparent;
}

/** Makes the trace of a request known while its handler runs. A request without one costs the lookup of a header. */
export function installTrace(app: App): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function tracedHandler(request, reply) {
      const traceparent = request.span === undefined ? givenTrace(request)?.traceparent : request.span.traceparent;
      if (traceparent === undefined) return handler.call(this, request, reply);
      const traced: TracedRequest = { traceparent, isOver: false };
      const answer: unknown = requests.run(traced, () => handler.call(this, request, reply));
      if (answer instanceof Promise) return answer.finally(() => (traced.isOver = true));
      traced.isOver = true;
      return answer;
    };
  });
}

/** The trace that the caller has sent. */
export function givenTrace({ raw }: Pick<FastifyRequest, 'raw'>): Trace | null {
  const { traceparent } = raw.headers;
  return traceparent === undefined ? null : readTraceparent(traceparent);
}
