import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { readConfig } from '../../../packages/server/src/config.ts';
import { startHousekeeping } from '../../../packages/server/src/housekeeping.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { serveMetrics } from '../../../packages/server/src/platform/watching/metrics-server.ts';
import { maxListedQueues, QueueSeries } from '../../../packages/server/src/queues/queue-metrics.ts';
import { newId, type QueueId } from '../../../packages/server/src/platform/ids.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { forThisFile } from '../../support/fixture.ts';
import { parseMetrics, scrape } from '../../support/processes/metrics.ts';
import { startProxy } from '../../support/network/proxy.ts';
import { call, startTestServer, until } from '../../support/server.ts';
import { enqueue, expectStatus, makeAccount, makeAvailableOperator, makeQueue } from '../../support/world.ts';
import { insertWaiting, makeWebhook } from '../../support/receivers/webhooks.ts';

const server = await forThisFile(startTestServer());
const account = await makeAccount(server);
const { sql } = server.database;

test('a scrape says which program runs, and counts the requests in flight', async () => {
  const numbers = await scrape(server);
  const build = [...numbers.keys()].find((series) => series.startsWith('usher_build_info')) ?? '';
  assert.match(build, /\{version="[^"]+",node="[.\d]+",platform="linux",arch="\w+"\}$/);
  assert.equal(numbers.get(build), 1);
  // The scrape itself.
  assert.equal(numbers.get('usher_http_requests_in_flight'), 1);
});

test('a request whose caller hangs up is no longer in flight', async () => {
  const feed = httpRequest(`${server.url}/feed`, { headers: { authorization: `Bearer ${account.admin}` } });
  const answered = new Promise((resolve) => feed.once('response', resolve));
  feed.on('error', () => undefined).end();
  await answered;
  assert.equal((await scrape(server)).get('usher_http_requests_in_flight'), 2);
  feed.destroy();
  await until(async () => (await scrape(server)).get('usher_http_requests_in_flight') === 1);
});

test('a pool reports its connections in use, and the statements that wait and for how long', async () => {
  const name = 'crowded';
  const pool = server.database.connect({ name, max: 1 });
  const release = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const holding = pool.begin(async (own) => {
    await own`SELECT`;
    began.resolve();
    await release.promise;
  });
  await began.promise;
  const waiting = [pool`SELECT 1`, pool`SELECT 2`].map(async (statement) => statement);
  await until(async () => (await scrape(server)).get(`usher_database_pool_waiting{pool="${name}"}`) === 2);
  const during = await scrape(server);
  assert.equal(during.get(`usher_database_pool_limit{pool="${name}"}`), 1);
  assert.equal(during.get(`usher_database_pool_in_use{pool="${name}"}`), 1);
  assert.ok((during.get(`usher_database_pool_oldest_wait_seconds{pool="${name}"}`) ?? 0) > 0);
  assert.equal(during.get(`usher_database_pool_waits_total{pool="${name}"}`), 0);
  release.resolve();
  await Promise.all([holding, ...waiting]);
  await until(async () => (await scrape(server)).get(`usher_database_pool_idle{pool="${name}"}`) === 1);
  const after = await scrape(server);
  assert.equal(after.get(`usher_database_pool_in_use{pool="${name}"}`), 0);
  assert.equal(after.get(`usher_database_pool_waiting{pool="${name}"}`), 0);
  assert.equal(after.get(`usher_database_pool_oldest_wait_seconds{pool="${name}"}`), 0);
  assert.equal(after.get(`usher_database_pool_waits_total{pool="${name}"}`), 2);
  assert.ok((after.get(`usher_database_pool_wait_seconds_total{pool="${name}"}`) ?? 0) > 0);
  assert.equal(after.get(`usher_database_pool_timeouts_total{pool="${name}"}`), 0);
  await pool.end();
  for (const known of ['requests', 'lookups', 'turns', 'batches', 'dispatcher', 'feed', 'statistics'])
    assert.ok(after.has(`usher_database_pool_in_use{pool="${known}"}`), known);
});

/** Readings are cached for some seconds, so the tests of what only the database knows prepare everything before one scrape. */
async function scrapePrepared() {
  await using own = await startTestServer();
  const who = await makeAccount(own);
  const queue = await makeQueue(own, who, { when_unstaffed: 'accept', routing_policy: { media: ['text'] } });
  const { id, visitor } = await enqueue(own, who, queue);
  expectStatus(
    await call(own, `PATCH /queue_tickets/${id}`, { token: visitor.token, body: { action: 'cancel' } }),
    200,
  );
  const first = await enqueue(own, who, queue);
  await enqueue(own, who, queue);
  await own.database.sql`
    UPDATE queue_tickets SET entered_at = array[now() - interval '5 minutes'] WHERE id = ${first.id}`;
  const staffed = await makeQueue(own, who, { routing_policy: { media: ['video'] } });
  await makeAvailableOperator(own, who, { media: ['video'] });
  await own.database.sql`
    INSERT INTO queues
    SELECT (json_populate_record(q, json_build_object('id', gen_random_uuid(), 'name', q.name || i))).*
      FROM queues q, generate_series(1, ${maxListedQueues + 50}) AS i
     WHERE q.id = ${queue}`;
  // So that the queue is among those with the most visitors.
  await own.database.sql`
    INSERT INTO queue_states (queue_id, account_id, visitors, standing, waits)
    SELECT id, account_id, 1, 'opened', '{}' FROM queues WHERE id = ${staffed}
    ON CONFLICT (queue_id) DO UPDATE SET visitors = 1`;
  // The first attempt is far in the future.
  const later = new Date(Date.now() + 3_600_000);
  const overHttp = await makeWebhook(own, who);
  const overNats = await makeWebhook(own, who, { url: 'nats://127.0.0.1:9/subject', method: undefined });
  await insertWaiting(own, overHttp.id, [
    { state: 'retrying', dueAt: later, attempts: 1 },
    { state: 'retrying', dueAt: later, attempts: 2 },
  ]);
  await insertWaiting(own, overNats.id, [{ state: 'pending', dueAt: later }]);
  return { queue, staffed, numbers: await scrape(own) };
}

test('what only the database knows: queues, deliveries and leases', async (t) => {
  const { queue, staffed, numbers } = await scrapePrepared();

  await t.test('queues report visitors, the longest wait, staff, and how visitors left', () => {
    assert.equal(numbers.get(`usher_queue_visitors{queue_id="${queue}"}`), 2);
    const longest = numbers.get(`usher_queue_longest_wait_seconds{queue_id="${queue}"}`) ?? 0;
    assert.ok(longest >= 300 && longest < 360, String(longest));
    assert.equal(numbers.get(`usher_queue_staff{queue_id="${queue}"}`), 0);
    assert.equal(numbers.get(`usher_queue_staff{queue_id="${staffed}"}`), 1);
    assert.equal(numbers.get(`usher_queue_departures_total{queue_id="${queue}",outcome="abandoned"}`), 1);
  });

  await t.test('queues beyond the limit share one series', () => {
    const series = [...numbers.keys()].filter((each) => each.startsWith('usher_queue_visitors{'));
    assert.equal(series.length, maxListedQueues + 1);
    assert.equal(numbers.get('usher_queue_visitors{queue_id="other"}'), 0);
    const counters = new QueueSeries();
    const ids = Array.from({ length: maxListedQueues + 1 }, () => newId<QueueId>());
    const labels = ids.map((id) => counters.labelOf(id));
    assert.deepEqual(labels, [...ids.slice(0, -1), 'other']);
    assert.deepEqual(ids.map((id) => counters.labelOf(id)), labels); // prettier-ignore
  });

  await t.test('the backlog of deliveries is reported by channel, and leases by state', () => {
    const backlog = (channel: string, state: string): number | undefined =>
      numbers.get(`usher_deliveries_backlog{channel="${channel}",state="${state}"}`);
    const counts = ['http', 'apns', 'nats'].flatMap((kind) => [backlog(kind, 'pending'), backlog(kind, 'retrying')]);
    assert.deepEqual(counts, [0, 2, 0, 0, 1, 0]);
    assert.equal(numbers.get('usher_deliveries_channel_oldest_due_seconds{channel="http"}'), 0);
    assert.equal(numbers.get('usher_delivery_leases{state="live"}'), 0);
    assert.equal(numbers.get('usher_delivery_leases{state="expired"}'), 0);
    assert.equal(numbers.get('usher_delivery_leases_lost_total'), 0);
  });
});

test('the change channel reports its lag, notifications, and each reconnect', async () => {
  const before = await scrape(server);
  assert.equal(before.get('usher_change_channel_live'), 1);
  assert.ok((before.get('usher_change_channel_lag_seconds') ?? 9) < 3);
  assert.ok((before.get('usher_change_notifications_total') ?? 0) > 0);
  await sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%' OR (query = 'SELECT' AND datname = current_database())`;
  const reconnects = 'usher_change_channel_reconnects_total';
  await until(async () => ((await scrape(server)).get(reconnects) ?? 0) > (before.get(reconnects) ?? 0));
});

test('each sweep reports when it last succeeded, and one that fails shows', async () => {
  const sweeps = [
    ...server.sweeps,
    { always: { always_fails: async () => Promise.reject(new Error('this sweep always fails')) } },
  ];
  const last = (work: string): string => `usher_work_last_success_timestamp_seconds{work="${work}"}`;
  const began = Date.now() / 1_000;
  const stop = startHousekeeping({ sweeps, clock: server.clock, log: createLog('silent'), work: server.metrics.work });
  try {
    await until(async () => (await scrape(server)).get('usher_work_failures_total{work="always_fails"}') === 1);
    const numbers = await scrape(server);
    for (const work of ['make_event_days', 'drop_visitors', 'check_clock', 'poll_due_accounts', 'poll_due_deliveries'])
      assert.ok((numbers.get(last(work)) ?? 0) >= began - 5, work);
    assert.equal(numbers.get('usher_work_interval_seconds{work="drop_visitors"}'), 600);
  } finally {
    stop();
  }
});

test('with a port of its own, the metrics are only there', async () => {
  await using own = await startTestServer({ metricsPort: 0 });
  expectStatus(await call(own, 'GET /metrics'), 404);
  const metrics = await serveMetrics(own.metrics, { host: '127.0.0.1', port: 0 });
  const at = { url: `http://127.0.0.1:${metrics.port}` };
  try {
    const { body, headers } = expectStatus(await call(at, 'GET /metrics?job=usher'), 200);
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.equal(parseMetrics(body).get('usher_database_up'), 1);
    assert.match(expectStatus(await call(at, 'GET /sites'), 404).body, /serves only GET \/metrics/);
    expectStatus(await call(at, 'POST /metrics'), 404);
  } finally {
    await metrics.close();
  }
  assert.throws(
    () => readConfig({ PORT: '9000', USHER_METRICS_PORT: '9000' }),
    /USHER_METRICS_PORT must differ from PORT, 9000/,
  );
  assert.throws(() => readConfig({ USHER_METRICS_PORT: 'none' }), /USHER_METRICS_PORT must be a whole number/);
  assert.equal(readConfig({}).metricsPort, null);
});

test('a scrape answers within 3 s while the database is silent, and says that it is down', async () => {
  const direct = await cloneDatabase();
  assert.ok(direct.kind === 'socket');
  await using proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  const { port } = new URL(proxy.url);
  const url = `postgres://${direct.user}@127.0.0.1:${port}/${direct.database}`;
  await using own = await startTestServer({}, { kind: 'url', url });
  assert.equal((await scrape(own)).get('usher_database_up'), 1);
  proxy.silence(true);
  try {
    const began = performance.now();
    const numbers = await scrape(own);
    assert.ok(performance.now() - began < 3_000, `${performance.now() - began} ms`);
    assert.equal(numbers.get('usher_database_up'), 0);
    assert.ok(numbers.has('usher_http_requests_in_flight'));
    await until(async () => (await scrape(own)).get('usher_change_channel_live') === 0);
    assert.ok(((await scrape(own)).get('usher_change_channel_lag_seconds') ?? 0) > 1);
  } finally {
    proxy.silence(false);
  }
});
