import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { engage, sendText, type Engaged } from '../../support/people/chat.ts';
import { startEmbeddedCluster } from '../../support/database/embedded-cluster.ts';
import { contents, isMessage, openFeed, type OpenFeed } from '../../support/people/feed.ts';
import { runOldestProgram, startOldestPostgres } from '../../support/database/oldest-postgres.ts';
import { temporaryDirectory } from '../../support/processes/process.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { call, startTestServer, until, type Json, type TestServer } from '../../support/server.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import { expectStatus } from '../../support/world.ts';

type SocketAddress = DatabaseAddress & { readonly kind: 'socket' };

/** Transactions of the first cluster, so that its ids are far above those of the target cluster. */
const idsUsedUp = 20_000;
const events = ['engagement.chat.message'];
const hookable = { webhookAllowCidrs: ['127.0.0.0/8'] };

/** The messages of each step: `step 0`, `step 1` … */
async function say(chat: Engaged, step: string, count = 10): Promise<string[]> {
  const all = Array.from({ length: count }, (_, number) => `${step} ${number}`);
  for (const content of all) await sendText(chat, chat.visitor, content);
  return all;
}

async function dump(address: SocketAddress, file: string): Promise<void> {
  await runOldestProgram('pg_dump', address, ['-d', address.database, '-Fc', '-f', file]);
}

async function restore(address: SocketAddress, file: string): Promise<void> {
  await runOldestProgram('pg_restore', address, ['-d', address.database, '--exit-on-error', file]);
}

/** The messages on the feed after the process has read its log `times` more. Each reader that resumes makes it read. */
async function contentsAfterReads(server: TestServer, feed: OpenFeed, token: string, times = 3): Promise<string[]> {
  for (let time = 0; time < times; time += 1) {
    const other = await openFeed(server, { token, lastId: feed.lastId() });
    await other.close();
  }
  return contents(feed);
}

async function loggedMessages(server: TestServer, { own, id }: Engaged, query: string): Promise<string[]> {
  const path = `GET /events?engagement_id=${id}&event_type[]=engagement.chat.message&per_page=100${query}`;
  const { body } = expectStatus(await call(server, path, { token: own.admin }), 200);
  return body.events.map(({ event }: Json) => event.message.content);
}

const targets = [
  { name: 'the same major version', start: startOldestPostgres },
  { name: 'the newest major version', start: startEmbeddedCluster },
] as const;

for (const { name, start } of targets)
  test(`after pg_dump and restore into ${name} positions and order are kept, and nothing is repeated`, async () => {
    const first = temporaryDirectory();
    const second = temporaryDirectory();
    const third = temporaryDirectory();
    const file = join(first.path, 'usher.dump');
    const receiver = await startReceiver();
    const source = await startOldestPostgres(first.path, { fsync: 'off' });
    const database = openDatabase(source.address, 1);
    await migrate(database, ensureSigningKey);
    await database.sql.unsafe(
      `DO $$ BEGIN FOR n IN 1..${idsUsedUp} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`,
    );
    await database.close();
    const closers: (() => Promise<void>)[] = [];
    try {
      const before = await startTestServer(hookable, source.address);
      const chat = await engage(before);
      const { token } = chat.operator;
      await makeWebhook(before, chat.own, { url: receiver.url, events });
      await receiver.close();
      const feed = await openFeed(before, { token });
      const old = await say(chat, 'before');
      await feed.until(isMessage('before 9'));
      await feed.close();
      const missed = await say(chat, 'missed');
      await before[Symbol.asyncDispose]();
      await dump(source.address, file);
      await source.stop();

      const target = await start(second.path, { fsync: 'off' });
      closers.push(async () => target.stop());
      await restore(target.address as SocketAddress, file);
      await receiver.open();
      const restoredAt = new Date().toISOString();
      const server = await startTestServer(hookable, target.address);
      closers.unshift(async () => server[Symbol.asyncDispose]());
      const restored = { ...chat, server };

      // A reader who was disconnected during the move is sent what they missed, once.
      const back = await openFeed(server, { token, lastId: feed.lastId() });
      assert.deepEqual(contents(back), missed);
      assert.equal((await back.untilType('feed.open')).data.resumed, true);
      const fresh = await say(restored, 'after');
      await back.until(isMessage('after 9'));
      assert.deepEqual(await contentsAfterReads(server, back, token), [...missed, ...fresh]);
      // A new reader is sent nothing old.
      const newFeed = await openFeed(server, { token });
      const more = await say(restored, 'more', 1);
      await newFeed.until(isMessage('more 0'));
      assert.deepEqual(await contentsAfterReads(server, newFeed, token), more);

      // The event log lists the newest first, across the restore, and finds new events by time.
      const all = [...old, ...missed, ...fresh, ...more];
      assert.deepEqual(await loggedMessages(server, restored, ''), all.toReversed());
      const since = `&since=${restoredAt}`;
      assert.deepEqual(await loggedMessages(server, restored, since), [...fresh, ...more].toReversed());
      const until1 = `&until=${restoredAt}`;
      assert.deepEqual(await loggedMessages(server, restored, until1), [...old, ...missed].toReversed());

      // Deliveries that waited during the dump are sent after the restore, in order, before the later ones.
      await until(() => receiver.ofType('engagement.chat.message').length >= all.length);
      assert.deepEqual(
        receiver.ofType('engagement.chat.message').map(({ message }) => message.content),
        all,
      );

      // The same dump in another cluster does not contain the later events, so a reader is reset.
      const lastId = newFeed.lastId();
      await back.close();
      await newFeed.close();
      const other = await start(third.path, { fsync: 'off' });
      closers.push(async () => other.stop());
      await restore(other.address as SocketAddress, file);
      const replaced = await startTestServer(hookable, other.address);
      closers.unshift(async () => replaced[Symbol.asyncDispose]());
      const lost = await openFeed(replaced, { token, lastId });
      assert.equal((await lost.untilType('feed.reset')).data.reason, 'unknown_id');
      await say({ ...chat, server: replaced }, 'replaced', 3);
      await lost.until(isMessage('replaced 2'));
      assert.deepEqual(await contentsAfterReads(replaced, lost, token), ['replaced 0', 'replaced 1', 'replaced 2']);
      await lost.close();
    } finally {
      for (const close of closers) await close();
      await receiver.close();
      for (const directory of [first, second, third]) directory.remove();
    }
  });
