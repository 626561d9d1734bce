import { randomFillSync } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { TracingSettings } from '../../../config-tracing.ts';
import { newId } from '../../ids.ts';
import type { Log } from '../../log.ts';
import { readTrace, type Trace } from '../trace.ts';
import { version } from '../../version.ts';
import { watchExport } from './metrics.ts';
import { renderAttributes, renderSpan, type SpanIds } from './otlp-span.ts';
import { isSampled } from './sampler.ts';
import { SpanExporter } from './span-exporter.ts';
import type { ParentOrigin, Span, SpanDescription, Tracer } from './tracer.ts';
import { WallClock } from './wall-clock.ts';

export interface OpenTracer extends Tracer {
  /** Exports what is left, within a time limit. */
  close(): Promise<void>;
}

interface TracerOptions {
  /** Resolves the host of the collector. */
  readonly lookup: LookupFunction;
  readonly log: Log;
  readonly registry: Registry;
}

/** Loaded only if an endpoint is set. Exports spans as OTLP over HTTP, in JSON (decision 29). */
export function openTracer(settings: TracingSettings, { lookup, log, registry }: TracerOptions): OpenTracer {
  const clock = new WallClock();
  const exporter = new SpanExporter({ target: settings, lookup, log, frame: frameOf(settings) });
  watchExport(registry, () => exporter.numbers);
  const decide = (above: Trace | null, traceId: string, origin: ParentOrigin): boolean => {
    if (above !== null && origin === 'own') return above.isSampled;
    // A stranger chooses the id of the trace, so another random one decides.
    if (above !== null && origin === 'stranger') return isSampled(settings.sampler, randomHex(16), null);
    return isSampled(settings.sampler, traceId, above);
  };
  return {
    begin(parent, origin = 'own') {
      const above = parent === null ? null : readTrace(parent.traceparent, parent.tracestate);
      const traceId = above?.traceId ?? randomHex(16);
      const tracestate = above?.tracestate ?? null;
      if (decide(above, traceId, origin)) {
        const ids = { traceId, spanId: randomHex(8), parentId: above?.parentId ?? null, tracestate };
        return new SampledSpan(ids, clock, exporter);
      }
      // A context that is not changed is passed on as it is. With another decision, it has to have another id.
      return unsampledSpan(traceId, above?.isSampled === false ? above.parentId : randomHex(8), tracestate);
    },
    close: async () => exporter.close(),
  };
}

/** What is before and after the spans in the body of each request. */
function frameOf({ resource }: TracingSettings): { readonly head: string; readonly tail: string } {
  const attributes = renderAttributes({
    ...resource,
    'service.version': version,
    'service.instance.id': newId(),
    'host.name': hostname(),
    'process.pid': process.pid,
  });
  const ofProcess = JSON.stringify({ attributes });
  const scope = JSON.stringify({ name: 'usher', version });
  return {
    head: `{"resourceSpans":[{"resource":${ofProcess},"scopeSpans":[{"scope":${scope},"spans":[`,
    tail: ']}]}]}',
  };
}

class SampledSpan implements Span {
  readonly isSampled = true;
  readonly #ids: SpanIds;
  readonly #clock: WallClock;
  readonly #exporter: SpanExporter;
  readonly #startedAt = performance.now();
  #isEnded = false;

  constructor(ids: SpanIds, clock: WallClock, exporter: SpanExporter) {
    this.#ids = ids;
    this.#clock = clock;
    this.#exporter = exporter;
  }

  get traceId(): string {
    return this.#ids.traceId;
  }

  get spanId(): string {
    return this.#ids.spanId;
  }

  get tracestate(): string | null {
    return this.#ids.tracestate;
  }

  get traceparent(): string {
    return `00-${this.#ids.traceId}-${this.#ids.spanId}-01`;
  }

  end(description: SpanDescription): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#exporter.add(renderSpan(this.#ids, this.#clock.timesSince(this.#startedAt), description));
  }
}

function unsampledSpan(traceId: string, spanId: string, tracestate: string | null): Span {
  const traceparent = `00-${traceId}-${spanId}-00`;
  return { traceId, spanId, traceparent, tracestate, isSampled: false, end: () => undefined };
}

const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Random bytes in hexadecimal digits. They are taken from a pool, because each call of the generator costs as much as a span. */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
