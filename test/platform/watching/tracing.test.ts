import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attributesIn, startCollector, type CollectedSpan } from '../../support/network/collector.ts';
import { forThisFile, openWorld } from '../../support/fixture.ts';
import { scrape } from '../../support/processes/metrics.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  makeVisitor,
  offersOf,
  type TestVisitor,
} from '../../support/world.ts';

const collector = await forThisFile(startCollector());
const receiver = await forThisFile(startReceiver());
const { server, account } = await openWorld(
  collector.settings({ OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b', OTEL_RESOURCE_ATTRIBUTES: 'team=support' }),
);

const traceOf = (digit: string, flags = '01'): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-${flags}`;
const isOf = (digit: string) => (span: CollectedSpan) => span.traceId === digit.repeat(32);

/** A parent may arrive after its children: the response of a request ends after its turn, and perhaps after the delivery. */
async function parentOf({ parentSpanId, traceId }: CollectedSpan): Promise<CollectedSpan> {
  return collector.find((span) => span.spanId === parentSpanId && span.traceId === traceId);
}

test('a request, its turn and the delivery of its event are one trace', async () => {
  const url = `${receiver.url}/path-secret?key=query-secret`;
  await makeWebhook(server, account, { url, events: ['engagement.start'], headers: { 'x-key': 'header-secret' } });
  const queue = await makeQueue(server, account);
  const operator = await makeAvailableOperator(server, account);
  await enqueue(server, account, queue);
  const [offer] = await offersOf(server, operator);
  const accepted = await call(server, `PATCH /engagement_requests/${offer.id}?_=query-of-caller`, {
    token: operator.token,
    body: { action: 'accept' },
    headers: { traceparent: traceOf('a'), tracestate: 'vendor=x, other=y' },
  });
  expectStatus(accepted, 200);
  const attempt = await collector.find(({ name }) => name === 'deliver engagement.start');
  const turn = await parentOf(attempt);
  const request = await parentOf(turn);

  assert.ok(isOf('a')(request));
  assert.equal(request.parentSpanId, 'a'.repeat(16));
  assert.deepEqual([request.name, request.kind], ['PATCH /engagement_requests/:request_id', 2]);
  const { 'usher.request.id': requestId, ...ofRequest } = request.attributes;
  assert.equal(requestId, accepted.headers.get('x-request-id'));
  assert.deepEqual(ofRequest, {
    'http.request.method': 'PATCH',
    'http.route': '/engagement_requests/:request_id',
    'http.response.status_code': 200,
    'url.scheme': 'http',
  });
  assert.deepEqual([turn.name, turn.kind, turn.status], ['turn', 1, undefined]);
  assert.equal(turn.attributes['usher.turn.orders'], 1);
  assert.equal(attempt.kind, 3);
  const [arrived] = receiver.arrived;
  assert.equal(arrived?.headers['traceparent'], `00-${'a'.repeat(32)}-${attempt.spanId}-01`);
  assert.equal(arrived?.headers['tracestate'], 'vendor=x,other=y');
  for (const { traceState } of [request, turn, attempt]) assert.equal(traceState, 'vendor=x,other=y');
  assert.equal(attempt.attributes['usher.event.id'], arrived?.headers['webhook-id']);
  const { 'usher.event.id': _, 'usher.webhook.id': __, 'usher.delivery.id': ___, ...ofAttempt } = attempt.attributes;
  assert.deepEqual(ofAttempt, {
    'usher.event.type': 'engagement.start',
    'usher.webhook.channel': 'http',
    'usher.delivery.attempt': 1,
    'server.address': '127.0.0.1',
    'server.port': receiver.port,
    'http.response.status_code': 200,
  });

  const [requestTimes, turnTimes, attemptTimes] = [request, turn, attempt].map(timesOf);
  assert.ok(requestTimes !== undefined && turnTimes !== undefined && attemptTimes !== undefined);
  assert.ok(requestTimes.start <= turnTimes.start && turnTimes.end <= requestTimes.end);
  assert.ok(turnTimes.start <= attemptTimes.start && attemptTimes.start <= attemptTimes.end);
  assert.ok(Math.abs(Number(requestTimes.end / 1_000_000n) - Date.now()) < 3_600_000);

  const line = server.logged.map((each): Json => JSON.parse(each)).find(({ span_id }) => span_id === request.spanId);
  assert.deepEqual([line.trace_id, line.parent_id], ['a'.repeat(32), 'a'.repeat(16)]);
});

function timesOf({ startTimeUnixNano, endTimeUnixNano }: CollectedSpan): { start: bigint; end: bigint } {
  return { start: BigInt(startTimeUnixNano), end: BigInt(endTimeUnixNano) };
}

test('requests to the collector have the headers of the settings, and no secret is in their bodies', () => {
  const [request] = collector.requests;
  assert.ok(request);
  assert.equal(request.path, 'POST /v1/traces');
  assert.deepEqual([request.headers['content-type'], request.headers['x-tenant']], ['application/json', 'a b']);
  const { resource, scopeSpans }: Json = JSON.parse(request.body).resourceSpans[0];
  const { 'service.name': service, team, 'process.pid': pid } = attributesIn(resource.attributes);
  assert.deepEqual([service, team, pid], ['usher', 'support', process.pid]);
  assert.equal(scopeSpans[0].scope.name, 'usher');
  const bodies = collector.requests.map(({ body }) => body).join('\n');
  assert.doesNotMatch(bodies, /path-secret|query-secret|header-secret|query-of-caller/);
  assert.ok(!bodies.includes(account.admin));
});

test('a turn with orders of several requests is below one of them and has links to the others', async () => {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const enter = async (visitor: TestVisitor, digit: string) => {
    const body = { site_id: own.siteId, media: 'text', queue_ids: [queue] };
    return call(server, 'POST /queue_tickets', {
      token: visitor.token,
      body,
      headers: { traceparent: traceOf(digit) },
    });
  };
  const first = await makeVisitor(server, own);
  const others = await Promise.all(
    ['b', 'c', 'd'].map(async (digit) => ({ digit, visitor: await makeVisitor(server, own) })),
  );
  const { sql } = server.database;
  const release = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = sql.begin(async (transaction) => {
    await transaction`
      SELECT FROM accounts WHERE id = (SELECT account_id FROM operators WHERE id = ${own.adminId}) FOR UPDATE`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const answers = [enter(first, '9')];
  const waiters = async () =>
    sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await until(async () => (await waiters()).length > 0);
  answers.push(...others.map(async ({ visitor, digit }) => enter(visitor, digit)));
  // One of these orders may be a tick of the board.
  await until(async () => ((await scrape(server)).get('usher_orders_waiting') ?? 0) >= 3);
  release.resolve();
  await holding;
  for (const answer of await Promise.all(answers)) expectStatus(answer, 201);

  const turn = await collector.find(({ links = [] }) => links.length > 0);
  const requests = [await parentOf(turn)];
  for (const link of turn.links ?? [])
    requests.push(await collector.find(({ traceId, spanId }) => traceId === link.traceId && spanId === link.spanId));
  assert.ok(requests.length >= 2);
  for (const { name, traceId } of requests) {
    assert.equal(name, 'POST /queue_tickets');
    assert.match(traceId, /^[bcd]{32}$/);
  }
  assert.equal(new Set(requests.map(({ traceId }) => traceId)).size, requests.length);
  assert.ok(turn.attributes['usher.turn.commands'].includes('enqueue'));
});

test('a failed attempt is an error, and an event without a request begins a trace of its own', async () => {
  receiver.answer = () => 500;
  receiver.arrived.length = 0;
  const webhook = await makeWebhook(server, account, { url: receiver.url, events: ['sip_domain.delete'] });
  expectStatus(
    await call(server, `POST /webhooks/${webhook.id}/test`, {
      token: account.admin,
      body: { event_type: 'sip_domain.delete' },
    }),
    202,
  );
  const attempt = await collector.find(({ attributes }) => attributes['usher.webhook.id'] === webhook.id);
  receiver.answer = () => 200;
  assert.equal(attempt.parentSpanId, undefined);
  assert.deepEqual(attempt.status, { code: 2 });
  assert.equal(attempt.attributes['error.type'], '500');
  assert.equal(receiver.arrived[0]?.headers['traceparent'], `00-${attempt.traceId}-${attempt.spanId}-01`);
});

test('refused and unknown requests have spans, and probes have none', async () => {
  await scrape(server);
  await call(server, 'GET /readyz');
  await call(server, 'GET /no/such/path', { headers: { traceparent: traceOf('e') } });
  await call(server, 'GET /queues', { headers: { traceparent: traceOf('f') } });
  const refused = await collector.find(isOf('f'));
  const { 'http.response.status_code': status, 'usher.error.code': code, 'error.type': type } = refused.attributes;
  assert.deepEqual([refused.name, status, code, type], ['GET /queues', 401, 'unauthenticated', undefined]);
  assert.equal(refused.status, undefined);
  const unknown = await collector.find(isOf('e'));
  assert.deepEqual([unknown.name, unknown.attributes['http.route']], ['GET', undefined]);
  assert.deepEqual(collector.spans.filter(({ name }) => /readyz|metrics/.test(name)), []); // prettier-ignore
  const numbers = await scrape(server);
  assert.ok((numbers.get('usher_spans_exported_total') ?? 0) > 0);
  assert.equal(numbers.get('usher_spans_dropped_total{reason="buffer_full"}'), 0);
});

test('a trace that is not sampled is passed on and not exported', async () => {
  const own = await forThisFile(startCollector());
  const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  const trusted = { USHER_TRACE_TRUST_CIDRS: '10.0.0.0/8,127.0.0.0/8' };
  await using sparing = await startTestServer(own.settings({ ...sampler, ...trusted }));
  const who = await makeAccount(sparing);
  receiver.arrived.length = 0;
  await makeWebhook(sparing, who, { url: receiver.url, events: ['sip_domain.delete'] });
  const remove = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const body = { site_id: who.siteId, domain: 'sip.example.com' };
    const made = await call(sparing, 'POST /sip_domains', { token: who.admin, body });
    const { id } = expectStatus(made, 201).body;
    const known = receiver.arrived.length;
    expectStatus(await call(sparing, `DELETE /sip_domains/${id}`, { token: who.admin, headers }), 204);
    await until(() => receiver.arrived.length > known);
    return receiver.arrived.at(-1)?.headers['traceparent'];
  };
  assert.match(String(await remove({})), /^00-[\da-f]{32}-[\da-f]{16}-00$/);
  assert.equal(await remove({ traceparent: traceOf('1', '00') }), traceOf('1', '00'));
  assert.match(String(await remove({ traceparent: traceOf('2') })), new RegExp(`^00-${'2'.repeat(32)}-`));
  const attempt = await own.find(({ name }) => name === 'deliver sip_domain.delete');
  const request = await own.find(({ name }) => name === 'DELETE /sip_domains/:sip_domain_id');
  assert.equal(attempt.parentSpanId, request.spanId);
  assert.deepEqual([...new Set(own.spans.map(({ traceId }) => traceId))], ['2'.repeat(32)]);
});

test('a collector that does not answer delays and fails no request', async () => {
  const silent = await forThisFile(startCollector());
  silent.answer = () => undefined;
  await using other = await startTestServer(silent.settings());
  const who = await makeAccount(other);
  await until(() => silent.requests.length > 0);
  const answers = Array.from({ length: 50 }, async () =>
    call(other, `GET /queues?site_ids=${who.siteId}`, { token: who.admin }),
  );
  for (const answer of await Promise.all(answers)) expectStatus(answer, 200);
  await until(async () => ((await scrape(other)).get('usher_spans_waiting') ?? 0) >= 50);
});

test('a stranger cannot choose whether a request is sampled, by a flag or by the id of the trace', async () => {
  const own = await forThisFile(startCollector());
  for (const [sampler, ratio] of [
    ['parentbased_traceidratio', '0'],
    ['traceidratio', '0.000001'],
    ['parentbased_always_on', '1'],
  ] as const) {
    const trusted = { USHER_TRACE_TRUST_CIDRS: '10.0.0.0/8' };
    const settings = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio, ...trusted };
    await using sparing = await startTestServer(own.settings(settings));
    const who = await makeAccount(sparing);
    receiver.arrived.length = 0;
    await makeWebhook(sparing, who, { url: receiver.url, events: ['sip_domain.delete'] });
    const body = { site_id: who.siteId, domain: 'sip.example.com' };
    const { id } = expectStatus(await call(sparing, 'POST /sip_domains', { token: who.admin, body }), 201).body;
    const isSampled = ratio === '1';
    // The id is the largest, so every ratio would sample it.
    const headers = { traceparent: traceOf('f', isSampled ? '00' : '01'), tracestate: 'vendor=x' };
    expectStatus(await call(sparing, `DELETE /sip_domains/${id}`, { token: who.admin, headers }), 204);
    await until(() => receiver.arrived.length > 0);
    const [arrived] = receiver.arrived;
    assert.match(String(arrived?.headers['traceparent']), new RegExp(`^00-f{32}-[\\da-f]{16}-0${isSampled ? 1 : 0}$`));
    assert.equal(arrived?.headers['tracestate'], 'vendor=x');
  }
  // The servers have exported everything before they closed.
  const requests = own.spans.filter(({ name }) => name === 'DELETE /sip_domains/:sip_domain_id');
  assert.deepEqual(requests.map(isOf('f')), [true]);
});
