/** The W3C trace context of a request: it is logged, stored with the events that the request causes, and passed on in webhooks. */
export interface TraceContext {
  /** The header. Without a tracer, which would name a span of its own, webhooks pass it on as it is. */
  readonly traceparent: string;
  /** What vendors add to it, as `readTracestate` returns it; `null`: nothing. */
  readonly tracestate: string | null;
}
