import type { OutgoingEvent } from './channel.ts';

/** Most events have no trace. */
const none: Readonly<Record<string, string>> = {};

/** The W3C trace context of the request that caused the event. */
export function traceHeaders({ trace = null }: OutgoingEvent): Readonly<Record<string, string>> {
  if (trace === null) return none;
  const { traceparent, tracestate } = trace;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}
