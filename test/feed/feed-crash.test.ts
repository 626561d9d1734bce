import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { end, sendText } from '../support/people/chat.ts';
import { startDurableCluster, type DurableCluster } from '../support/database/durable-cluster.ts';
import { contents, isMessage, openFeed } from '../support/people/feed.ts';
import { keepReading } from '../support/people/feed-reader.ts';
import { openEngagements, OrderLedger, startLedgerReceiver, writeInOrder } from '../support/receivers/ordered-load.ts';
import { until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import type { ServerHandle } from '../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const crashes = isLong ? 100 : 4;

function firstNode(cluster: DurableCluster): ServerHandle {
  const [node] = cluster.nodes;
  assert.ok(node);
  return cluster.reach(node);
}

async function untilReady({ url }: ServerHandle): Promise<void> {
  await until(async () => (await fetch(`${url}/readyz`)).status === 200, 30_000);
}

test('an open feed shows messages whose transactions reuse ids from before a crash of the database', async () => {
  // Only commits are flushed: ids of transactions that were not flushed are assigned again after a crash.
  await using cluster = await startDurableCluster({ nodes: 1, settings: { wal_writer_delay: '10s' } });
  const server = firstNode(cluster);
  const [chat] = await openEngagements(server, 1);
  assert.ok(chat);
  const { token } = chat.operator;
  await using feed = await openFeed(server, { token });
  await sendText(chat, chat.visitor, 'before');
  await feed.until(isMessage('before'));
  const { sql } = cluster.database;
  const [before] = await sql<{ xid: number }[]>`SELECT pg_current_xact_id()::text::integer AS xid`;
  for (let count = 0; count < 50; count += 1) await sql`SELECT pg_current_xact_id()`;
  // A reader who resumes makes the process read the log: its position now includes these fifty.
  const marker = await openFeed(server, { token, lastId: feed.lastId() });
  await marker.close();
  await cluster.crashDatabase();
  await untilReady(server);
  const expected: string[] = [];
  for (let number = 0; number < 20; number += 1) {
    expected.push(`after ${number}`);
    await sendText(chat, chat.visitor, `after ${number}`);
  }
  const [first] = await sql<{ xid: number }[]>`
    SELECT min(log_transaction(xid)::text::integer) AS xid FROM events WHERE payload -> 'message' ->> 'content' LIKE 'after%'`;
  assert.ok(
    first && before && first.xid <= before.xid + 50,
    'no id was reused after the crash: the test proves nothing',
  );
  await feed.until(isMessage('after 19'), 'the last message');
  assert.deepEqual(contents(feed), ['before', ...expected]);
  // A reader who was disconnected during the crash misses nothing either.
  await using back = await openFeed(server, { token, lastId: marker.lastId() });
  await back.until(isMessage('after 19'), 'the last message, for the reader who resumes');
  assert.deepEqual(contents(back), expected);
});

test('a reader who resumes after a crash of the database is sent every event, and a reset because changes of states are unknown', async () => {
  await using cluster = await startDurableCluster({ nodes: 1 });
  const server = firstNode(cluster);
  const [chat] = await openEngagements(server, 1);
  assert.ok(chat);
  const { token } = chat.operator;
  const before = await openFeed(server, { token });
  await before.close();
  // What changed on the board is in an unlogged table, which the crash empties.
  await end(chat);
  await cluster.crashDatabase();
  await untilReady(server);
  await using back = await openFeed(server, { token, lastId: before.lastId() });
  const open = await back.untilType('feed.open');
  assert.deepEqual(open.data, { resumed: true });
  const sent = back.items.slice(0, back.items.indexOf(open));
  assert.deepEqual(sent[0]?.data, { reason: 'moves_unknown' });
  assert.ok(sent.some(({ type }) => type === 'engagement.end'));
});

test(
  `every acknowledged message is on the open feeds once and in order, and reaches the webhook in order, despite ${crashes} crashes of the database`,
  { timeout: isLong ? 1_800_000 : hangMs },
  async () => {
    await using cluster = await startDurableCluster({ nodes: 2 });
    const server = firstNode(cluster);
    const engagements = await openEngagements(server, 6);
    const own = engagements[0]?.own;
    assert.ok(own);
    const delivered = new OrderLedger();
    const receiver = await startLedgerReceiver(delivered);
    await makeWebhook(server, own, { url: receiver.url, events: ['engagement.chat.message'] });
    const over = new AbortController();
    let openFeeds = 0;
    const ledgers = cluster.nodes.map(() => new OrderLedger());
    const reading = cluster.nodes.map(async (node, index) => {
      const ledger = ledgers[index];
      assert.ok(ledger);
      return keepReading(
        {
          findServer: () => cluster.reach(node),
          token: own.admin,
          onOpen: () => (openFeeds += 1),
          onItem: ({ type, data }) => {
            if (type === 'engagement.chat.message') ledger.record(data.message.content);
          },
        },
        over.signal,
      );
    });
    await until(() => openFeeds === cluster.nodes.length);
    const writing = writeInOrder(engagements, { seconds: crashes * 2.5, retry: true });
    for (let crash = 0; crash < crashes; crash += 1) {
      await pause(1_500 + Math.random() * 500);
      await cluster.crashDatabase();
      await untilReady(server);
    }
    const acknowledged = await writing;
    const all = [...ledgers, delivered];
    await until(() => all.every((ledger) => ledger.arrived >= acknowledged.size), 60_000).catch(() => undefined);
    over.abort();
    await receiver.close();
    const resets = await Promise.all(reading);
    const missing = all.map((ledger) => ledger.missing(acknowledged).length);
    const displaced = all.map((ledger) => ledger.displaced);
    const repeated = ledgers.map((ledger) => ledger.repeated);
    const deliveredTwice = delivered.repeated;
    console.log(
      JSON.stringify({ crashes, messages: acknowledged.size, missing, displaced, repeated, resets, deliveredTwice }),
    );
    assert.deepEqual(missing, [0, 0, 0]);
    assert.deepEqual(displaced, [0, 0, 0]);
    assert.deepEqual(repeated, [0, 0]);
    assert.deepEqual(resets, [0, 0]);
  },
);
