import { AsyncLocalStorage } from 'node:async_hooks';
import type { App } from './http.ts';

/** The W3C trace context of a request: it is logged, stored with the events that the request causes, and passed on in webhooks. */
export interface Trace {
  /** The header, which webhooks pass on as it is: Usher reports no spans of its own. */
  readonly traceparent: string;
  readonly traceId: string;
  readonly parentId: string;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/**
 * Reads a `traceparent` header. As the specification asks, an invalid one is ignored, and of a later version only the known fields
 * are used.
 */
export function readTraceparent(header: unknown): Trace | null {
  const [, version, traceId = '', parentId = '', flags, more] =
    typeof header === 'string' ? (form.exec(header) ?? []) : [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (zeros.test(traceId) || zeros.test(parentId)) return null;
  return { traceparent: `00-${traceId}-${parentId}-${flags}`, traceId, parentId };
}

/** A request that is being handled. Background work that a handler starts inherits it, so it is over when the handler is done. */
interface TracedRequest {
  readonly trace: Trace;
  isOver: boolean;
}

const requests = new AsyncLocalStorage<TracedRequest>();

/** The `traceparent` of the request that is being handled; `null`: it has none, or no request is being handled. */
export function currentTraceparent(): string | null {
  const request = requests.getStore();
  return request === undefined || request.isOver ? null : request.trace.traceparent;
}

/** Makes the trace of a request known while its handler runs. A request without one costs the lookup of a header. */
export function installTrace(app: App): void {
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function tracedHandler(request, reply) {
      const { traceparent } = request.raw.headers;
      const trace = traceparent === undefined ? null : readTraceparent(traceparent);
      if (trace === null) return handler.call(this, request, reply);
      const traced: TracedRequest = { trace, isOver: false };
      const answer: unknown = requests.run(traced, () => handler.call(this, request, reply));
      if (!(answer instanceof Promise)) return answer;
      return answer.finally(() => (traced.isOver = true));
    };
  });
}
