import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { connect, openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { engage, sendText, say } from '../../support/people/chat.ts';
import { contents, isMessage, openFeed, type OpenFeed } from '../../support/people/feed.ts';
import { runOldestProgram, startOldestPostgres, type OldestPostgres } from '../../support/database/oldest-postgres.ts';
import { OrderLedger, openEngagements, startLedgerReceiver } from '../../support/receivers/ordered-load.ts';
import { temporaryDirectory } from '../../support/processes/process.ts';
import { startTestServer, until, type Json, type TestServer } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import { requestTicket, expectStatus, makeOperator, makeVisitor, offersOf, setPresence } from '../../support/world.ts';

/**
 * The database loses its latest changes while processes keep running: a standby that lagged is promoted, or an older backup is
 * restored. Processes may have lost changes in memory, and readers may have seen them.
 */
const hookable = { webhookAllowCidrs: ['127.0.0.0/8'] };
const replicable = { fsync: 'off', wal_level: 'replica', max_wal_senders: '4' };

const directories: ReturnType<typeof temporaryDirectory>[] = [];
after(() => {
  for (const directory of directories) directory.remove();
});

function newDirectory(): string {
  const directory = temporaryDirectory();
  directories.push(directory);
  return directory.path;
}

async function startMigrated(dataDir: string, name: string): Promise<OldestPostgres> {
  const postgres = await startOldestPostgres(dataDir, replicable);
  const admin = connect(postgres.address, { max: 1 });
  await admin`CREATE DATABASE ${admin(name)}`;
  await admin.end();
  const database = openDatabase({ ...postgres.address, database: name }, 1);
  await migrate(database, ensureSigningKey);
  await database.close();
  return postgres;
}

async function untilReady(...servers: TestServer[]): Promise<void> {
  for (const { url } of servers) await until(async () => (await fetch(`${url}/readyz`)).status === 200, 30_000);
}

/** Repeats the request until it is acknowledged, because the database may be down. */
async function retryUntilAcknowledged<T extends { readonly status: number }>(request: () => Promise<T>): Promise<T> {
  let answer = await request();
  await until(async () => answer.status < 500 || (answer = await request()).status < 500);
  return answer;
}

function resets(feed: OpenFeed): string[] {
  return feed.items.filter(({ type }) => type === 'feed.reset').map(({ data }) => data.reason);
}

test('after a failover that lost the last changes no lost visitor is offered, and feed readers are reset', async () => {
  const [first, second] = [newDirectory(), newDirectory()];
  const primary = await startMigrated(first, 'usher');
  const address = { ...primary.address, database: 'usher' };
  await using one = await startTestServer(hookable, address);
  await using two = await startTestServer(hookable, address);
  const chat = await engage(one);
  const { own, queue } = chat;
  const operator = await makeOperator(one, own, [{ site_id: own.siteId, role: 'operator' }]);
  const visitors = [];
  while (visitors.length < 6) visitors.push(await makeVisitor(one, own));
  const standby = join(second, 'postgres');
  const options = ['-X', 'stream', '-c', 'fast', '--no-sync'];
  await runOldestProgram('pg_basebackup', primary.address, ['-D', standby, ...options]);
  const { uid, gid } = statSync(join(first, 'postgres'));
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', `${uid}:${gid}`, second]);

  // The standby does not receive any of this.
  const live = await openFeed(one, { token: own.admin });
  const away = await openFeed(one, { token: own.admin });
  await sendText(chat, chat.visitor, 'lost');
  for (const visitor of visitors.slice(0, 3))
    expectStatus(await requestTicket(one, own, { queue_ids: [queue] }, visitor), 201);
  await away.until(isMessage('lost'));
  const lost = () => away.items.filter(({ type }) => type === 'queue_ticket.state').map(({ data }) => data.id);
  await until(() => new Set(lost()).size === 3);
  await away.close();
  await primary.stop();
  // It replaces the primary at the same address.
  renameSync(join(first, 'postgres'), join(first, 'lost'));
  renameSync(standby, join(first, 'postgres'));
  const promoted = await startOldestPostgres(first, replicable);
  try {
    await untilReady(one, two);
    // The other process advances the board to the version that the first process has cached.
    const kept: string[] = [];
    for (const visitor of visitors.slice(3)) {
      const ticket = await retryUntilAcknowledged(async () => requestTicket(two, own, { queue_ids: [queue] }, visitor));
      kept.push(expectStatus(ticket, 201).body.id);
    }
    await retryUntilAcknowledged(async () => setPresence(one, operator).then(() => ({ status: 200 }), () => ({ status: 503 }))); // prettier-ignore
    let offers: Json[] = [];
    await until(async () => (offers = await offersOf(one, operator)).length > 0);
    const { sql } = one.database;
    const offered = await sql<{ ticket: string }[]>`
      SELECT ticket_id AS ticket FROM engagement_requests WHERE id = ${offers[0].id}`;
    assert.deepEqual([...offered].map(({ ticket }) => ticket), kept.slice(0, 1)); // prettier-ignore
    const [unknown] = await sql<{ count: number }[]>`
      SELECT count(*)::integer AS count FROM engagement_requests r
       WHERE ticket_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM queue_tickets t WHERE t.id = r.ticket_id)`;
    assert.equal(unknown?.count, 0);
    // Both readers saw a message and tickets that were lost.
    await until(() => resets(live).includes('unknown_id'));
    assert.ok(one.logged.some((line) => line.includes('the database has lost events that feed readers were sent')));
    await using back = await openFeed(two, { token: own.admin, lastId: away.lastId() });
    assert.deepEqual(resets(back), ['unknown_id']);
    await sendText({ ...chat, server: two }, chat.visitor, 'after');
    await live.until(isMessage('after'));
    await back.until(isMessage('after'));
    assert.deepEqual(contents(live), ['lost', 'after']);
    await live.close();
  } finally {
    await promoted.stop();
  }
});

test('an older backup restored into the same cluster begins a new epoch: feed readers are reset, webhooks stay in order', async () => {
  const first = newDirectory();
  const postgres = await startMigrated(first, 'usher');
  const admin = connect(postgres.address, { max: 1 });
  const server = await startTestServer(hookable, { ...postgres.address, database: 'usher' });
  const ledger = new OrderLedger();
  const receiver = await startLedgerReceiver(ledger);
  try {
    const [busy, quick] = await openEngagements(server, 2);
    assert.ok(busy && quick);
    await makeWebhook(server, busy.own, { url: receiver.url, events: ['engagement.chat.message'] });
    const file = join(first, 'usher.dump');
    await runOldestProgram('pg_dump', postgres.address, ['-d', 'usher', '-Fc', '-f', file]);
    await using live = await openFeed(server, { token: busy.operator.token });
    for (let number = 0; number < 40; number += 1) await sendText(busy, busy.visitor, `lost ${number}`);
    await until(() => ledger.arrived === 40);
    await live.until(isMessage('lost 39'));

    await admin`CREATE DATABASE restored`;
    await runOldestProgram('pg_restore', postgres.address, ['-d', 'restored', '--exit-on-error', file]);
    await admin`ALTER DATABASE usher ALLOW_CONNECTIONS false`;
    await until(async () => {
      await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'usher'`;
      return (await admin`SELECT 1 FROM pg_stat_activity WHERE datname = 'usher'`).length === 0;
    });
    await admin`ALTER DATABASE usher RENAME TO old`;
    await admin`ALTER DATABASE restored RENAME TO usher`;
    await untilReady(server);

    // Sequence numbers are assigned again while some transaction is always open.
    const slowly = (async () => {
      for (let number = 0; number < 20; number += 1)
        expectStatus(await retryUntilAcknowledged(async () => say(busy, busy.visitor, `slow ${number}`)), 200);
    })();
    for (let number = 0; number < 60; number += 1)
      expectStatus(await retryUntilAcknowledged(async () => say(quick, quick.visitor, `quick ${number}`)), 200);
    await slowly;
    await until(() => ledger.arrived === 120);
    assert.equal(ledger.displaced, 0);
    await until(() => resets(live).includes('unknown_id'));
    await live.until(isMessage('slow 19'));
    const epochs = await server.database.sql<{ epoch: number }[]>`SELECT epoch FROM log_epochs ORDER BY epoch`;
    assert.equal(epochs.length, 2);
  } finally {
    await server[Symbol.asyncDispose]();
    await receiver.close();
    await admin.end();
    await postgres.stop();
  }
});
