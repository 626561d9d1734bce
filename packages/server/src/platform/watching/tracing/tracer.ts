import type { TraceContext } from '../trace-context.ts';

/**
 * Begins the spans of this process: one per request, per turn, and per attempt to deliver a webhook. Where tracing is not configured,
 * `null` is in place of the tracer, and `otlp-tracer.ts` is not loaded.
 */
export interface Tracer {
  /** Begins a span below the span that `parent` names. With `null` or an invalid one, it begins a trace. */
  begin(parent: TraceContext | null, origin?: ParentOrigin): Span;
}

/**
 * Who made the parent. `own`: Usher, so its decision about sampling holds. `trusted`: a caller whose decision the sampler may follow.
 * `stranger`: a caller who must not decide, neither by a flag nor by choosing the id of the trace.
 */
export type ParentOrigin = 'own' | 'trusted' | 'stranger';

/** As a trace context, a span is the parent of what it causes. It also passes on whether the trace is sampled. */
export interface Span extends TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** `false`: the span is not exported, and only passes its trace on. */
  readonly isSampled: boolean;
  /** Ends the span. If it is sampled, it is exported later. Ending it again has no effect. */
  end(description: SpanDescription): void;
}

export interface SpanDescription {
  /** One of few: names, types and routes, but no ids. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  /** Spans of other traces that also caused this one, as `traceparent`. */
  readonly links?: readonly string[];
  /** The class of the error with which the span ended, one of few; absent: it succeeded. */
  readonly errorType?: string;
}

export type SpanKind = 'internal' | 'server' | 'client' | 'producer';

/** An attribute that is `undefined` is left out. Numbers are integers. */
export type Attributes = Readonly<Record<string, string | number | readonly string[] | undefined>>;
