import type { OutgoingEvent } from './channel.ts';

/** Most events have no trace. */
const none: Readonly<Record<string, string>> = {};

/** The W3C trace context of the request that caused the event. */
export function traceHeaders({ traceparent }: OutgoingEvent): Readonly<Record<string, string>> {
  return typeof traceparent === 'string' ? { traceparent } : none;
}
