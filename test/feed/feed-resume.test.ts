import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { end, engage, sendText } from '../support/people/chat.ts';
import { contents, isMessage, openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { startTestServer, type Json } from '../support/server.ts';
import { makeAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const second = await forThisFile(startTestServer({}, server.database.address));
/** A feed without events, for the test of heartbeats. */
const quiet = await openFeed(server, { token: (await makeAccount(server)).admin });

test('a reader who resumes is sent what they missed, once, by any process', async () => {
  const chat = await engage(server);
  const { visitor, operator } = chat;
  const feed = await openFeed(server, { token: operator.token });
  await sendText(chat, visitor, 'one');
  await feed.until(isMessage('one'));
  await feed.close();
  for (const content of ['two', 'three', 'four']) await sendText(chat, visitor, content);
  await using back = await openFeed(second, { token: operator.token, lastId: feed.lastId() });
  await back.until(isMessage('four'));
  assert.deepEqual(contents(back), ['two', 'three', 'four']);
  assert.equal((await back.untilType('feed.open')).data.resumed, true);
  // Also from the middle of what was sent.
  const middle = back.items.find(isMessage('three'))?.id ?? '';
  await sendText(chat, visitor, 'five');
  await using again = await openFeed(server, { token: operator.token, lastId: middle });
  await again.until(isMessage('five'));
  assert.deepEqual(contents(again), ['four', 'five']);
  await end(chat);
  await using late = await openFeed(server, { token: operator.token, lastId: feed.lastId() });
  await late.untilType('engagement.end');
  assert.deepEqual(contents(late), ['two', 'three', 'four', 'five']);
  const state = await late.untilType('engagement.state');
  assert.equal(state.data.state, 'ended');
});

test('a reader who resumes again and again in the middle of traffic misses nothing and gets nothing twice', async () => {
  const chat = await engage(server);
  const { visitor, operator } = chat;
  const total = 120;
  const mark = await openFeed(server, { token: operator.token });
  await mark.close();
  const writing = (async () => {
    for (let n = 0; n < total; n += 4)
      await Promise.all([0, 1, 2, 3].map(async (more) => sendText(chat, visitor, String(n + more))));
  })();
  const seen: string[] = [];
  let lastId = mark.lastId();
  for (let round = 0; seen.length < total; round += 1) {
    assert.ok(round < 400, `only ${seen.length} came`);
    const feed = await openFeed(round % 2 ? server : second, { token: operator.token, lastId });
    await pause(round % 7);
    await feed.close();
    // As for any client, the id of the last complete item counts.
    seen.push(...contents(feed));
    lastId = feed.lastId();
  }
  await writing;
  assert.equal(new Set(seen).size, seen.length, 'something came twice');
  assert.deepEqual(
    [...seen].map(Number).toSorted((a, b) => a - b),
    Array.from({ length: total }, (_, n) => n),
  );
});

test('an event of a transaction that commits late is not skipped', async () => {
  const chat = await engage(server);
  const { operator, visitor, own } = chat;
  await using feed = await openFeed(server, { token: operator.token });
  const { sql } = server.database;
  const [row] = await sql<Json[]>`SELECT * FROM engagements WHERE id = ${chat.id}`;
  const insert = (on: Sql, content: string) => on`
    INSERT INTO events (account_id, id, type, site_id, engagement_id, visitor_id, operator_id, occurred_at, payload)
    VALUES (${row.account_id}, ${randomUUID()}, 'engagement.chat.message', ${own.siteId}, ${chat.id}, ${visitor.id},
            ${operator.id}, now(), ${JSON.stringify({ message: { content } })}::text::json)`;
  let before = '';
  await sql.begin(async (slow) => {
    await insert(slow, 'slow');
    await sendText(chat, visitor, 'quick');
    before = (await feed.until(isMessage('quick'))).id;
  });
  await feed.until(isMessage('slow'));
  await using back = await openFeed(second, { token: operator.token, lastId: before });
  await back.until(isMessage('slow'));
  assert.deepEqual(contents(back), ['slow']);
});

test('an invalid or too old id is answered with feed.reset, and the feed continues from now', async () => {
  const chat = await engage(server);
  const ids = [
    'garbage',
    '1-1-5:4:',
    '99999999999999-0-1:1:',
    '0-0-99999999999999999999:99999999999999999999:',
    "1-1-1:1:'--",
    '9'.repeat(20_000),
  ];
  for (const lastId of ids) {
    if (lastId.length > 10_000) continue;
    await using feed = await openFeed(server, { token: chat.operator.token, lastId });
    assert.equal((await feed.untilType('feed.reset')).data.reason, 'unknown_id');
    await sendText(chat, chat.visitor, lastId.slice(0, 20));
    await feed.until(isMessage(lastId.slice(0, 20)));
  }
});

test('a reader who does not read is dropped, and resumes without a gap', async () => {
  const chat = await engage(server);
  const { operator, visitor } = chat;
  const { port } = new URL(server.url);
  await using mark = await openFeed(server, { token: operator.token });
  const lastId = mark.lastId();
  await mark.close();
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause();
  socket.write(
    `GET /feed HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operator.token}\r\nlast-event-id: ${lastId}\r\n\r\n`,
  );
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  const large = 'x'.repeat(9_990);
  let sent = 0;
  let dropped = false;
  // Kernel buffers take several megabytes before anything waits in the process.
  while (!dropped && sent < 2_000) {
    await Promise.all(Array.from({ length: 50 }, async (_, n) => sendText(chat, visitor, `${large}${sent + n}`)));
    sent += 50;
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    dropped = metrics.includes('usher_feeds_dropped_total 1');
  }
  assert.ok(dropped, 'the reader was not dropped');
  socket.destroy();
  await closed;
  await using back = await openFeed(second, { token: operator.token, lastId });
  await back.until(isMessage(`${large}${sent - 1}`));
  await back.until(() => contents(back).length === sent, 'all of them');
  assert.equal(new Set(contents(back)).size, sent);
});

test('a comment every 15 s keeps a quiet feed open, and its id up to date', async () => {
  const first = quiet.items[0]?.id ?? '';
  // The first heartbeat may have come before any event.
  const before = quiet.lastId() === first ? quiet.heartbeats() : 0;
  const deadline = Date.now() + 16_500;
  while (quiet.heartbeats() === before && Date.now() < deadline) await pause(50);
  assert.ok(quiet.heartbeats() > before);
  assert.notEqual(quiet.lastId(), first);
  assert.deepEqual(
    quiet.items.map(({ type }) => type),
    ['feed.open'],
  );
  await quiet.close();
});

test('open feeds end when the server stops, and do not delay the stop', async () => {
  const third = await startTestServer({}, server.database.address);
  const own = await makeAccount(third);
  const feed = await openFeed(third, { token: own.admin });
  const began = Date.now();
  await third.app.close();
  await feed.ended;
  assert.ok(Date.now() - began < 3_000);
  await third[Symbol.asyncDispose]();
});
