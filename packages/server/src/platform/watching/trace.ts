import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyRequest } from 'fastify';
import type { AroundHandler } from '../http/request-path.ts';
import type { TraceContext } from './trace-context.ts';
import { readTracestate } from './tracestate.ts';
import type { Span } from './tracing/tracer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of the request. Absent if tracing is not configured, and for probes. */
    span?: Span;
  }
}

/** A trace context and the fields of its `traceparent`. */
export interface Trace extends TraceContext {
  readonly traceId: string;
  readonly parentId: string;
  /** Whether the caller reports its spans. */
  readonly isSampled: boolean;
}

const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const zeros = /^0+$/;
const sampledFlag = 1;

/**
 * Reads the headers `traceparent` and `tracestate`. As the specification asks, both are ignored if the first is invalid, and of a
 * later version only the known fields are used.
 */
export function readTrace(header: unknown, tracestate?: unknown): Trace | null {
  const [, version, traceId = '', parentId = '', flags = '', more] =
    typeof header === 'string' ? (form.exec(header) ?? []) : [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (zeros.test(traceId) || zeros.test(parentId)) return null;
  const isSampled = (Number.parseInt(flags, 16) & sampledFlag) !== 0;
  const traceparent = `00-${traceId}-${parentId}-${flags}`;
  return { traceparent, tracestate: readTracestate(tracestate), traceId, parentId, isSampled };
}

/** A request that is being handled. Background work that a handler starts inherits it, so it is over when the handler is done. */
interface TracedRequest {
  readonly trace: TraceContext;
  isOver: boolean;
}

const requests = new AsyncLocalStorage<TracedRequest>();

/**
 * What the events of the request that is being handled have as their parent: its span, or without a tracer its own parent. `null`: no
 * request is being handled, or it has no trace.
 */
export function currentTrace(): TraceContext | null {
  const request = requests.getStore();
  return request === undefined || request.isOver ? null : request.trace;
}

/** Makes the trace of a request known while its handler runs. A request without one costs the lookup of a header. */
export const traceHandler: AroundHandler = (request, reply, next) => {
  const trace = request.span ?? givenTrace(request);
  if (trace === null) return next(request, reply);
  const traced: TracedRequest = { trace, isOver: false };
  const answer = requests.run(traced, () => next(request, reply));
  if (answer instanceof Promise) return answer.finally(() => (traced.isOver = true));
  traced.isOver = true;
  return answer;
};

/** The trace that the caller has sent. */
export function givenTrace({ raw }: Pick<FastifyRequest, 'raw'>): Trace | null {
  const { traceparent, tracestate } = raw.headers;
  return traceparent === undefined ? null : readTrace(traceparent, tracestate);
}
