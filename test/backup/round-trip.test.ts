import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DatabaseAddress } from '../../packages/server/src/platform/database/database.ts';
import { backUp, contentsOf, restoreFrom, withSql } from '../support/database/backup.ts';
import { sendText, type Engaged } from '../support/people/chat.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { contents, isMessage, openFeed, type OpenFeed } from '../support/people/feed.ts';
import { fileForm, filesOnDisk, pathOnDisk, uploadFile } from '../support/people/files.ts';
import { startOldestPostgres } from '../support/database/oldest-postgres.ts';
import { openEngagements, writeInOrder } from '../support/receivers/ordered-load.ts';
import { temporaryDirectory } from '../support/processes/process.ts';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import { expectStatus, requestTicket } from '../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
/** The load ends with the backup; this ends it if the backup hangs. */
const maxLoadSeconds = 120;
/** The backup begins when so many messages have been read. */
const messagesBefore = isLong ? 1_000 : 40;
const hookable = { webhookAllowCidrs: ['127.0.0.0/8'], scanner: { kind: 'none' } } as const;
/** A delivery that has failed twice is retried after 36 s at most. */
const retriedMs = 90_000;
const type = 'engagement.chat.message';

async function query<Row>(address: DatabaseAddress, text: string): Promise<Row[]> {
  return withSql(address, async (sql) => [...(await sql.unsafe(text))] as Row[]);
}

/** The contents of the messages in the log, in its order. */
async function loggedMessages(address: DatabaseAddress): Promise<string[]> {
  const rows = await query<{ content: string }>(
    address,
    `SELECT payload -> 'message' ->> 'content' AS content FROM events WHERE type = '${type}' ORDER BY seq`,
  );
  return rows.map(({ content }) => content);
}

/** The contents of the messages whose deliveries wait, in the order of the log. */
async function waitingMessages(address: DatabaseAddress): Promise<string[]> {
  const rows = await query<{ content: string }>(
    address,
    `SELECT e.payload -> 'message' ->> 'content' AS content
       FROM deliveries d JOIN events e ON e.seq = d.event_seq ORDER BY d.event_seq`,
  );
  return rows.map(({ content }) => content);
}

function received(receiver: Receiver): string[] {
  return receiver.ofType(type).map(({ message }) => message.content);
}

/** Contents are `<writer> <number>`; within each writer the numbers must increase. */
function assertInOrder(all: readonly string[]): void {
  for (const [writer, own] of Map.groupBy(all, (content) => content.split(' ')[0])) {
    const numbers = own.map((content) => Number(content.split(' ')[1]));
    assert.deepEqual(
      numbers,
      numbers.toSorted((one, other) => one - other),
      `writer ${writer}`,
    );
    assert.equal(new Set(numbers).size, numbers.length, `writer ${writer} repeats a message`);
  }
}

async function eventLog(server: { url: string }, { own, id }: Engaged): Promise<string[]> {
  const path = `GET /events?engagement_id=${id}&event_type[]=${type}&per_page=5`;
  const { body } = expectStatus(await call(server, path, { token: own.admin }), 200);
  return body.events.map(({ event }: Json) => event.message.content);
}

test('a backup under load is restored into PostgreSQL 15 and back into the embedded one: nothing is lost, repeated or reordered', async () => {
  const folder = temporaryDirectory();
  const cluster = temporaryDirectory();
  const [first, second, third] = ['first', 'second', 'third'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const [file, nextFile] = [join(folder.path, 'one.usher'), join(folder.path, 'two.usher')];
  const oldest = await startOldestPostgres(cluster.path, { fsync: 'off' });
  const receiver = await startReceiver();
  const closers: (() => Promise<void>)[] = [];
  try {
    // The source, in the newest PostgreSQL.
    const source = await startTestServer({ ...hookable, dataDir: first });
    closers.push(async () => source[Symbol.asyncDispose]());
    const { address } = source.database;
    const engagements = await openEngagements(source, 3);
    const [chat] = engagements;
    assert.ok(chat !== undefined);
    // Larger than a record of the backup.
    const bytes = Buffer.from(randomBytes(400_000).toString('hex'));
    const talk = {
      account: chat.own,
      operator: chat.operator,
      visitor: chat.visitor,
      engagement: chat.id,
      path: `/engagements/${chat.id}/files`,
    };
    const fileId = await uploadFile(source, talk, fileForm(bytes.toString()));
    await makeWebhook(source, chat.own, { url: receiver.url, events: [type] });
    const { token } = chat.operator;
    const feed = await openFeed(source, { token: chat.own.admin });
    for (let number = 0; number < 5; number += 1) await sendText(chat, chat.visitor, `early ${number}`);
    await feed.until(isMessage('early 4'));
    await feed.close();
    // The reader also misses a change of the board.
    expectStatus(await requestTicket(source, chat.own, { queue_ids: [chat.queue] }), 201);
    await until(async () => received(receiver).length === 5 && (await waitingMessages(address)).length === 0);

    // The receiver is slow and fails at times, so that deliveries wait at every moment.
    receiver.answer =
      ({ event }) =>
      (_request, response) =>
        void setTimeout(() => response.writeHead(event.message.content.endsWith('3') ? 503 : 200).end(), 20);
    const late = await openFeed(source, { token: chat.own.admin });
    let acknowledgedBefore: string[] = [];
    const backUpMeanwhile = async () => {
      await until(() => contents(late).length > messagesBefore);
      acknowledgedBefore = contents(late);
      return backUp({ address, dataDir: first }, file).finally(() => isBackedUp.abort());
    };
    const isBackedUp = new AbortController();
    const [summary, acknowledged] = await Promise.all([
      backUpMeanwhile(),
      writeInOrder(engagements, { seconds: maxLoadSeconds, perSecond: 120, signal: isBackedUp.signal }),
    ]);
    await sendText(chat, chat.visitor, 'late 0');
    await until(() => contents(late).length === acknowledged.size + 1);
    await late.close();
    await source[Symbol.asyncDispose]();
    closers.length = 0;
    assert.equal(summary.files, 1);
    assert.deepEqual(summary.missing, []);

    // PostgreSQL 15 of the user, whose transaction ids are far lower.
    const target = { address: oldest.address, dataDir: second };
    await restoreFrom(target, file);
    const restored = await loggedMessages(target.address);
    const waiting = await waitingMessages(target.address);
    const all = new Set(restored);
    assert.deepEqual(
      acknowledgedBefore.filter((content) => !all.has(content)),
      [],
      'what was acknowledged before the backup is in it',
    );
    assert.equal(all.has('late 0'), false, 'what was sent after the backup is not in it');
    assertInOrder(restored);
    assert.ok(waiting.length > 0, 'deliveries were waiting');

    receiver.answer = () => 200;
    receiver.arrived.length = 0;
    const moved = await startTestServer({ ...hookable, dataDir: second }, target.address);
    closers.push(async () => moved[Symbol.asyncDispose]());
    const back = await openFeed(moved, { token: chat.own.admin, lastId: feed.lastId() });
    assert.equal((await back.untilType('feed.open')).data.resumed, true);
    await back.untilType('queue_ticket.state');
    assert.deepEqual(contents(back), restored.slice(5), 'the feed goes on after the last item that was seen');
    const reset = await openFeed(moved, { token: chat.own.admin, lastId: late.lastId() });
    assert.equal((await reset.untilType('feed.reset')).data.reason, 'unknown_id');
    await reset.close();

    const there = { ...chat, server: moved };
    for (let number = 5; number < 10; number += 1) await sendText(there, chat.visitor, `early ${number}`);
    await back.until(isMessage('early 9'));
    const fresh = ['early 5', 'early 6', 'early 7', 'early 8', 'early 9'];
    assert.deepEqual(contents(back), [...restored.slice(5), ...fresh]);
    assert.deepEqual(await eventLog(moved, chat), fresh.toReversed());
    await until(async () => (await waitingMessages(target.address)).length === 0, retriedMs);
    assert.deepEqual(
      received(receiver).toSorted(),
      [...waiting, ...fresh].toSorted(),
      'exactly what waited was sent, once',
    );
    assertInOrder(received(receiver).filter((content) => !content.endsWith('3')));
    const path = `GET /engagements/${chat.id}/files/${fileId}`;
    expectStatus(await call(moved, path, { token }), 200);
    assert.ok(readFileSync(pathOnDisk(second, fileId)).equals(bytes), 'the file is byte for byte the same');
    assert.deepEqual(filesOnDisk(second), [fileId], 'no mark of an incoming file is left');

    // And back, into the newest PostgreSQL, while nothing runs: then everything is the same.
    const lastId = back.lastId();
    await back.close();
    await moved[Symbol.asyncDispose]();
    closers.length = 0;
    const before = await contentsOf(target.address);
    await backUp(target, nextFile);
    const home = { address: await emptyDatabase(), dataDir: third };
    await restoreFrom(home, nextFile);
    assert.deepEqual(await contentsOf(home.address), before);
    assert.ok(readFileSync(pathOnDisk(third, fileId)).equals(bytes));
    const final = await startTestServer({ ...hookable, dataDir: third }, home.address);
    closers.push(async () => final[Symbol.asyncDispose]());
    const again: OpenFeed = await openFeed(final, { token: chat.own.admin, lastId });
    assert.equal((await again.untilType('feed.open')).data.resumed, true);
    await sendText({ ...chat, server: final }, chat.visitor, 'early 10');
    await again.until(isMessage('early 10'));
    assert.deepEqual(contents(again), ['early 10']);
    await again.close();
  } finally {
    for (const close of closers) await close();
    await receiver.close();
    await oldest.stop();
    folder.remove();
    cluster.remove();
  }
});
