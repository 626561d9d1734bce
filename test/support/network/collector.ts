import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConfig, type Config } from '../../../packages/server/src/config.ts';
import { until, type Json } from '../server.ts';

/** A span as it arrived, with its attributes by name. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, Json>>;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly droppedLinksCount?: number;
  readonly status?: { readonly code: number };
}

interface CollectedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Collector {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly requests: readonly CollectedRequest[];
  /** The spans of all requests, in order of arrival. */
  readonly spans: readonly CollectedSpan[];
  /** Answers a request; by default as a collector that accepts everything. It may be replaced. */
  answer: (response: ServerResponse) => void;
  /** Waits for the span that matches. */
  find(matches: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
  /** Settings that send all traces here. */
  settings(environment?: Readonly<Record<string, string>>): Pick<Config, 'tracing'>;
  close(): Promise<void>;
}

/** An OpenTelemetry collector that accepts OTLP over HTTP in JSON. */
export async function startCollector(): Promise<Collector> {
  const requests: CollectedRequest[] = [];
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      requests.push({ path: `${request.method} ${request.url}`, headers: request.headers, body });
      spans.push(...spansIn(body));
      collector.answer(response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const collector: Collector = {
    url,
    requests,
    spans,
    answer: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
    async find(matches) {
      await until(() => spans.some(matches));
      return spans.find(matches) ?? assert.fail();
    },
    settings: (environment = {}) => ({
      tracing: readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment }).tracing,
    }),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return collector;
}

function spansIn(body: string): CollectedSpan[] {
  const { resourceSpans }: Json = JSON.parse(body);
  return resourceSpans.flatMap(({ scopeSpans }: Json) =>
    scopeSpans.flatMap((scope: Json) =>
      scope.spans.map((span: Json) => ({ ...span, attributes: attributesIn(span.attributes) })),
    ),
  );
}

/** Integers as numbers: their JSON form is a text. */
export function attributesIn(list: Json): Record<string, Json> {
  return Object.fromEntries(list.map(({ key, value }: Json) => [key, valueOf(value)]));
}

function valueOf({ stringValue, intValue, arrayValue }: Json): Json {
  if (arrayValue !== undefined) return arrayValue.values.map(valueOf);
  return stringValue ?? Number(intValue);
}
