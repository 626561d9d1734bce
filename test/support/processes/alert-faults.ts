import assert from 'node:assert/strict';
import { connect, inTransaction } from '../../../packages/server/src/platform/database/database.ts';
import { requestConnections } from '../../../packages/server/src/platform/database/pools.ts';
import { readConfig } from '../../../packages/server/src/config.ts';
import { cloneDatabase, emptyDatabase } from '../database/database.ts';
import { fileForm, startFileEngagement, uploadFile } from '../people/files.ts';
import { scrape, type Scrape } from './metrics.ts';
import { freePort } from '../network/free-port.ts';
import { startProxy } from '../network/proxy.ts';
import { startReceiver } from '../receivers/receiver.ts';
import { call, startTestServer, until, type TestServer } from '../server.ts';
import { insertWaiting, makeWebhook } from '../receivers/webhooks.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeQueue,
  makeVisitor,
  requestTicket,
  type TestAccount,
} from '../world.ts';

/** What `/metrics` showed while all was well, and in the faults that alerts report. */
export interface Faults {
  readonly healthy: Scrape;
  /** Somebody waits long, nobody is available, receivers are down, files are not scanned. */
  readonly faulty: Scrape;
  /** Requests wait for a connection. */
  readonly crowded: Scrape;
  /** A turn had to wait for a lock. */
  readonly slow: Scrape;
  /** A write transaction has been open in another database for a second. */
  readonly forgotten: Scrape;
  /** The process could not run. */
  readonly blocked: Scrape;
  /** The database does not respond. */
  readonly silent: Scrape;
  /** When `silent` was read, in seconds. */
  readonly silentAtSec: number;
}

const endEvent = { event_type: 'engagement.end' };

/** Provokes each fault in a real server. Only what takes long is made older in the database: waiting visitors, deliveries and files. */
export async function provokeFaults(): Promise<Faults> {
  const direct = await cloneDatabase();
  assert.ok(direct.kind === 'socket');
  await using proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  const { port } = new URL(proxy.url);
  const url = `postgres://${direct.user}@127.0.0.1:${port}/${direct.database}`;
  const scanner = { kind: 'clamd', host: '127.0.0.1', port: await freePort() } as const;
  await using server = await startTestServer({ scanner }, { kind: 'url', url });
  const account = await makeAccount(server);
  const queue = await makeQueue(server, account, { when_unstaffed: 'accept' });
  const receiver = await startReceiver();
  const working = await makeWebhook(server, account, { url: receiver.url });
  await sendTest(server, account, working.id);
  await until(() => receiver.arrived.length === 1);
  await receiver.close();
  const { id: ticket } = await enqueue(server, account, queue);
  const { id: canceled, visitor } = await enqueue(server, account, queue);
  const cancel = { token: visitor.token, body: { action: 'cancel' } };
  expectStatus(await call(server, `PATCH /queue_tickets/${canceled}`, cancel), 200);
  await until(async () => (await scrape(server)).has('usher_deliveries_total{outcome="delivered"}'));
  const healthy = await scrape(server);

  const faulty = await neglect(server, account, { queue, ticket });
  const crowded = await crowd(server);
  const slow = await delayTurn(server, account, queue);
  const forgotten = await forgetTransaction(server);
  const blocked = await block(server);
  proxy.silence(true);
  try {
    // A request that fails, because the database is silent.
    const body = { site_id: account.siteId, media: 'text', queue_ids: [queue] };
    expectStatus(await call(server, 'POST /queue_tickets', { token: visitor.token, body }), 503);
    await until(async () => (await scrape(server)).get('usher_change_channel_live') === 0);
    const silent = await scrape(server);
    return { healthy, faulty, crowded, slow, forgotten, blocked, silent, silentAtSec: Date.now() / 1000 };
  } finally {
    proxy.silence(false);
  }
}

async function forgetTransaction(server: TestServer): Promise<Scrape> {
  const other = connect(await emptyDatabase(), { max: 1 });
  try {
    return await inTransaction(other, async (sql) => {
      await sql`SELECT pg_current_xact_id()`;
      // Other tests on the same PostgreSQL write, too, for a moment.
      return scrapeUntil(server, (reading) => (reading.get('usher_database_oldest_transaction_seconds') ?? 0) > 1);
    });
  } finally {
    await other.end();
  }
}

async function sendTest(server: TestServer, { admin }: TestAccount, webhookId: string): Promise<void> {
  expectStatus(await call(server, `POST /webhooks/${webhookId}/test`, { token: admin, body: endEvent }), 202);
}

/** Nobody is available, nobody delivers, nobody answers, and nobody scans. */
async function neglect(
  server: TestServer,
  account: TestAccount,
  { queue, ticket }: { readonly queue: string; readonly ticket: string },
): Promise<Scrape> {
  const { sql } = server.database;
  await sql`UPDATE queue_tickets SET entered_at = array[now() - interval '20 minutes'] WHERE id = ${ticket}`;
  const idle = await makeWebhook(server, account, { url: 'http://127.0.0.1:9/hook' });
  // Another process has the lease, and does not deliver.
  await sql`
    UPDATE destinations SET owner = gen_random_uuid(), leased_until = 'infinity' WHERE origin = 'http://127.0.0.1:9'`;
  await insertWaiting(server, idle.id, [{ state: 'retrying', dueAt: new Date(Date.now() - 1_200_000), attempts: 3 }]);

  const closedUrl = `http://127.0.0.1:${await freePort()}/hook`;
  const down = await makeWebhook(server, account, { url: closedUrl, ordering: 'none' });
  for (let count = 0; count < 6; count += 1) await sendTest(server, account, down.id);
  await until(async () => {
    const [row] =
      await sql`SELECT count(*)::integer AS count FROM deliveries WHERE webhook_id = ${down.id} AND attempts > 0`;
    return row?.['count'] >= 5;
  });
  // Three days later: the next attempt is the last one.
  await sql`UPDATE deliveries SET attempts = 11 WHERE webhook_id = ${down.id} AND attempts > 0`;

  await uploadFile(server, await startFileEngagement(server), fileForm('never scanned'));
  await sql`UPDATE files SET created_at = now() - interval '2 minutes'`;

  const isReached: Record<string, (value: number) => boolean> = {
    'usher_deliveries_channel_oldest_due_seconds{channel="http"}': (value) => value > 1_100,
    [`usher_queue_longest_wait_seconds{queue_id="${queue}"}`]: (value) => value > 1_100,
    'usher_deliveries_total{outcome="exhausted"}': (value) => value > 0,
    usher_files_pending_age_seconds: (value) => value > 60,
  };
  // Readings are cached for some seconds.
  return scrapeUntil(server, (reading) => {
    const isTripped = ['open', 'half_open'].some(
      (state) => (reading.get(`usher_delivery_destinations{state="${state}"}`) ?? 0) > 0,
    );
    return isTripped && Object.entries(isReached).every(([series, reaches]) => reaches(reading.get(series) ?? 0));
  });
}

/** Transactions hold every connection for requests, and one more waits. */
async function crowd(server: TestServer): Promise<Scrape> {
  const { sql } = server.database;
  const read = Promise.withResolvers<void>();
  const holding = Array.from({ length: requestConnections(readConfig({})) + 1 }, async () =>
    inTransaction(sql, async (own) => {
      await own`SELECT 1`;
      await read.promise;
    }),
  );
  try {
    const series = 'usher_database_pool_oldest_wait_seconds{pool="requests"}';
    return await scrapeUntil(server, (metrics) => (metrics.get(series) ?? 0) > 1);
  } finally {
    read.resolve();
    await Promise.allSettled(holding);
  }
}

/** Somebody else holds the lock of the account for more than a second while a visitor asks for a ticket. */
async function delayTurn(server: TestServer, account: TestAccount, queue: string): Promise<Scrape> {
  const visitor = await makeVisitor(server, account);
  const other = connect(server.database.address, { max: 1 });
  try {
    let requested: Promise<unknown> = Promise.resolve();
    await inTransaction(other, async (sql) => {
      await sql`SELECT 1 FROM accounts FOR NO KEY UPDATE`;
      requested = requestTicket(server, account, { queue_ids: [queue] }, visitor);
      let since = Infinity;
      await until(async () => {
        // Its query and its time may be those of the statement before: statements are sent without waiting for each other.
        const waiting = await sql`
          SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        since = waiting.length === 0 ? Infinity : Math.min(since, performance.now());
        return performance.now() - since > 1_200;
      });
    });
    await requested;
  } finally {
    await other.end();
  }
  const turns = (metrics: Scrape, part: string): number => metrics.get(`usher_turn_duration_seconds_${part}`) ?? 0;
  return scrapeUntil(server, (metrics) => turns(metrics, 'count') > turns(metrics, 'bucket{le="1"}'));
}

/** The process cannot run for a while, several times. */
async function block(server: TestServer): Promise<Scrape> {
  let reading: Scrape = new Map();
  await until(async () => {
    for (let count = 0; count < 5; count += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    reading = await scrape(server);
    return (reading.get('nodejs_eventloop_lag_p99_seconds') ?? 0) > 0.2;
  });
  return reading;
}

async function scrapeUntil(server: TestServer, isReached: (reading: Scrape) => boolean): Promise<Scrape> {
  let reading: Scrape = new Map();
  await until(async () => isReached((reading = await scrape(server))));
  return reading;
}
