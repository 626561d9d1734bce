import { readTrace } from '../trace.ts';
import type { Attributes, SpanDescription, SpanKind } from './tracer.ts';

/**
 * Spans in the JSON form of OTLP (opentelemetry-proto): names in camel case, ids in hexadecimal digits, enumerations as numbers, and
 * 64-bit integers as text.
 */

export interface SpanTimes {
  /** Unix milliseconds, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface SpanIds {
  readonly tracestate: string | null;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
}

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, producer: 4 };
const statusOfErrors = 2;

/** The limit of the specification. A turn may have more causes. */
const maxLinks = 128;
/** A longer text, such as a name from the settings, is cut. */
const maxTextLength = 256;

export function renderSpan(ids: SpanIds, times: SpanTimes, description: SpanDescription): string {
  const { name, kind, attributes, links = [], errorType } = description;
  return JSON.stringify({
    traceId: ids.traceId,
    spanId: ids.spanId,
    ...(ids.parentId === null ? {} : { parentSpanId: ids.parentId }),
    ...(ids.tracestate === null ? {} : { traceState: ids.tracestate }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(times.startMs),
    endTimeUnixNano: nanoseconds(times.endMs),
    attributes: renderAttributes({ ...attributes, 'error.type': errorType }),
    ...(links.length === 0 ? {} : { links: links.slice(0, maxLinks).flatMap(renderLink) }),
    ...(links.length <= maxLinks ? {} : { droppedLinksCount: links.length - maxLinks }),
    ...(errorType === undefined ? {} : { status: { code: statusOfErrors } }),
  });
}

export function renderAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: renderValue(value) }],
  );
}

function renderValue(value: string | number | readonly string[]): object {
  if (typeof value === 'number') return { intValue: String(value) };
  if (typeof value === 'string') return { stringValue: value.slice(0, maxTextLength) };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each.slice(0, maxTextLength) })) } };
}

function renderLink(traceparent: string): object[] {
  const trace = readTrace(traceparent);
  return trace === null ? [] : [{ traceId: trace.traceId, spanId: trace.parentId }];
}

/** A number has too few digits for nanoseconds since 1970, so the fraction of the millisecond is written separately. */
function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const rest = Math.floor((milliseconds - whole) * 1e6);
  return `${whole}${String(rest).padStart(6, '0')}`;
}
