import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { NameResolver } from '../../../packages/server/src/platform/outbound/names/name-resolver.ts';
import {
  SpanExporter,
  type ExporterOptions,
} from '../../../packages/server/src/platform/watching/tracing/span-exporter.ts';
import { startCollector, type Collector } from '../../support/network/collector.ts';
import { forThisFile } from '../../support/fixture.ts';
import { until } from '../../support/server.ts';

const names = await forThisFile(new NameResolver());

/** An exporter with a log, for a collector of its own. Failed requests are repeated soon. */
async function open(limits: ExporterOptions['limits'] = {}) {
  const collector = await forThisFile(startCollector());
  const logged: string[] = [];
  const exporter = new SpanExporter({
    target: { endpoint: `${collector.url}/v1/traces`, headers: {} },
    lookup: names.lookupFor('test'),
    log: createLog('info', { write: (line) => void logged.push(line) }),
    frame: { head: '{"resourceSpans":[{"scopeSpans":[{"spans":[', tail: ']}]}]}' },
    limits: { exportEveryMs: 5, minPauseMs: 5, maxPauseMs: 20, ...limits },
  });
  return { collector, exporter, logged };
}

const span = (name: string): string => JSON.stringify({ name, attributes: [] });
const namesIn = ({ spans }: Collector): string[] => spans.map(({ name }) => name);
const answerWith =
  (status: number, body = '{}'): Collector['answer'] =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

test('spans wait for the next batch, and a large batch is sent at once', async () => {
  const { collector, exporter } = await open({ exportEveryMs: 600_000, batchLength: 300 });
  const all = Array.from({ length: 30 }, (_, index) => `span ${index}`);
  for (const name of all) exporter.add(span(name));
  await until(() => collector.spans.length >= 24);
  assert.ok(collector.requests.every(({ body }) => body.length < 400));
  await exporter.close();
  assert.deepEqual(namesIn(collector), all);
  assert.deepEqual(exporter.numbers, {
    exported: 30,
    dropped: { buffer_full: 0, rejected: 0, shutdown: 0 },
    waiting: 0,
  });
});

test('an outage is logged once, and the spans are sent when it is over', async () => {
  const { collector, exporter, logged } = await open();
  collector.answer = answerWith(503);
  exporter.add(span('early'));
  await until(() => collector.requests.length >= 3);
  exporter.add(span('late'));
  collector.answer = answerWith(200);
  await until(() => exporter.numbers.exported === 2);
  assert.equal(namesIn(collector).at(-1), 'late');
  const messages = logged.map((line) => JSON.parse(line)).map(({ level, reason, msg }) => [level, reason, msg]);
  assert.deepEqual(messages, [
    [
      'warn',
      'the collector answered with status 503',
      'could not export spans; requests and webhooks are not affected',
    ],
    ['info', undefined, 'spans are exported again'],
  ]);
  await exporter.close();
});

test('spans that the collector refuses are counted and not sent again', async () => {
  const { collector, exporter, logged } = await open();
  collector.answer = answerWith(400);
  exporter.add(span('refused'));
  await until(() => exporter.numbers.dropped.rejected === 1);
  collector.answer = answerWith(200, '{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}');
  exporter.add(span('accepted'));
  exporter.add(span('too old'));
  await until(() => exporter.numbers.dropped.rejected === 2);
  assert.equal(exporter.numbers.exported, 1);
  assert.deepEqual(namesIn(collector), ['refused', 'accepted', 'too old']);
  assert.equal(logged.length, 1);
  await exporter.close();
});

test('a collector that does not answer costs a limited amount of memory, and does not keep the process from stopping', async () => {
  const { collector, exporter, logged } = await open({ batchLength: 1_000, bufferLength: 10_000, closeMs: 50 });
  collector.answer = () => undefined;
  const text = span('x'.repeat(100));
  for (let count = 0; count < 100; count += 1) exporter.add(text);
  await until(() => collector.requests.length === 1);
  for (let count = 0; count < 10_000; count += 1) exporter.add(text);
  const { waiting, dropped } = exporter.numbers;
  const sending = collector.spans.length;
  assert.ok(sending > 0 && (waiting + sending) * text.length <= 10_000, `${waiting} spans wait`);
  assert.equal(waiting + sending + dropped.buffer_full, 10_100);
  await exporter.close();
  assert.equal(exporter.numbers.waiting, 0);
  assert.equal(exporter.numbers.dropped.shutdown, waiting + sending);
  assert.match(logged.at(-1) ?? '', /the last spans could not be exported/);
});
