import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  appendIndications,
  appendVisitorEventBatch,
} from '../../packages/server/src/engagements/event-batches-store.ts';
import { Messages } from '../../packages/server/src/engagements/messages/messages.ts';
import { findMessage, type ChatMessage } from '../../packages/server/src/engagements/messages/store.ts';
import { Hints } from '../../packages/server/src/events/hints.ts';
import { inTransaction, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { newId, type AccountId, type EngagementId, type Id } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { pools } from '../../packages/server/src/platform/database/pools.ts';
import { acknowledge, end, engage, ofType, say, transcript, type Engaged } from '../support/people/chat.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { forThisFile } from '../support/fixture.ts';
import { openEngagements } from '../support/receivers/ordered-load.ts';
import { startTestServer, until, type Answer } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { eventsOf, expectStatus } from '../support/world.ts';

const server = await forThisFile(startTestServer());
const { sql } = server.database;

/** A message that says 'pause' stops its statement until the test lets go of this lock. */
const pauseLock = 20_031;
await sql.unsafe(`
  CREATE FUNCTION pause_message() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.content = 'pause' THEN PERFORM pg_advisory_xact_lock(${pauseLock}); END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER pause_message BEFORE INSERT ON chat_messages FOR EACH ROW EXECUTE FUNCTION pause_message();`);

/** The batches of a process beside the server, so that a test decides what is in a batch. */
const pool = server.database.connect(pools.batches);
const log = createLog('silent');
const messages = new Messages({ sql: pool, hints: new Hints(sql, server.changes, log), log });
await forThisFile({ close: async () => pool.end({ timeout: 1 }) });

type MessageId = Id<'chat_message'>;

async function messageIn(chat: Engaged, content: string, id = newId<MessageId>()): Promise<ChatMessage> {
  const [row] = await sql<{ accountId: AccountId }[]>`
    SELECT account_id AS "accountId" FROM engagements WHERE id = ${chat.id}`;
  assert.ok(row);
  const by = { kind: 'visitor', id: chat.visitor.id as Id<'visitor'> } as const;
  const plain = { type: 'chat', attachment: null, metadata: null, chosen: null, files: null } as const;
  return { ...row, engagementId: chat.id as EngagementId, id, by, content, ...plain };
}

/** What came of each message: stored, refused, or the unique index had its id. */
async function send(batch: readonly ChatMessage[], by = messages): Promise<string[]> {
  const outcomes = batch.map(async (message) =>
    by.send(sql, message).then(
      async (stored) => {
        if (stored !== null) return 'stored';
        return (await findMessage(sql, message)) === null ? 'refused' : 'chat_messages_pkey';
      },
      () => 'failed',
    ),
  );
  return Promise.all(outcomes);
}

/** Sends the messages after one that pauses their statement, and lets go once `meanwhile` has happened. */
async function sendPaused(batch: readonly ChatMessage[], meanwhile: () => Promise<unknown>): Promise<string[]> {
  const pausing = await messageIn(await engage(server), 'pause');
  const { sending } = await inTransaction(sql, async (own) => {
    await own`SELECT pg_advisory_xact_lock(${pauseLock})`;
    const begun = send([pausing, ...batch]);
    await until(async () => (await backendsThatPause()).length > 0);
    await meanwhile();
    // The transaction ends now; the promise of the messages is in an object, because it resolves after that.
    return { sending: begun };
  });
  const [first, ...others] = await sending;
  assert.equal(first, 'stored');
  return others;
}

async function backendsThatPause(): Promise<number[]> {
  const rows = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${pauseLock} AND NOT granted`;
  return rows.map(({ pid }) => pid);
}

interface Stored {
  readonly messages: number;
  readonly events: number;
  readonly undelivered: number;
}

async function storedIn({ id }: Engaged, connection: Sql = sql): Promise<Stored> {
  const [row] = await connection<Stored[]>`
    SELECT (SELECT count(*)::integer FROM chat_messages WHERE engagement_id = e.id) AS messages,
           (SELECT count(*)::integer FROM events
             WHERE engagement_id = e.id AND type = 'engagement.chat.message') AS events,
           undelivered_to_operator AS undelivered
      FROM engagements e WHERE id = ${id}`;
  assert.ok(row);
  return row;
}

const all = (count: number): Stored => ({ messages: count, events: count, undelivered: count });

test('messages of a batch are one transaction, each with its event and its deliveries', async () => {
  const chats = await openEngagements(server, 5);
  const batch = await Promise.all(chats.map(async (chat) => messageIn(chat, 'Hello')));
  assert.deepEqual(await send(batch), Array(5).fill('stored'));
  for (const chat of chats) assert.deepEqual(await storedIn(chat), all(1));
  const ids = chats.map(({ id }) => id);
  const rows = await sql`SELECT DISTINCT xid FROM events WHERE engagement_id = ANY(${ids}) AND type LIKE '%chat%'`;
  assert.equal(rows.length, 1);
  // `eventsOf` checks the form of every event.
  const [chat] = chats;
  assert.ok(chat);
  assert.equal(ofType(await eventsOf(server, chat.own), 'engagement.chat.message').length, 5);
});

test('what is refused in a batch is refused alone', async () => {
  const [good, ended, foreign, taken, other] = await openEngagements(server, 5);
  assert.ok(good && ended && foreign && taken && other);
  await end(ended);
  const id = newId<MessageId>();
  assert.deepEqual(await send([await messageIn(taken, 'first', id)]), ['stored']);
  const stranger = { kind: 'visitor', id: good.visitor.id as Id<'visitor'> } as const;
  const outcomes = await send([
    await messageIn(good, 'good'),
    await messageIn(ended, 'too late'),
    { ...(await messageIn(foreign, 'not mine')), by: stranger },
    await messageIn(taken, 'second', id),
    { ...(await messageIn(other, 'of another account')), accountId: newId() },
  ]);
  assert.deepEqual(outcomes, ['stored', 'refused', 'refused', 'chat_messages_pkey', 'refused']);
  assert.deepEqual(await storedIn(good), all(1));
  assert.deepEqual(await storedIn(taken), all(1));
  for (const chat of [ended, foreign, other]) assert.deepEqual(await storedIn(chat), all(0));
});

test('acknowledgements of a batch are one transaction, and what is refused is refused alone', async () => {
  const chats = await openEngagements(server, 4);
  const batch = await Promise.all(chats.map(async (chat) => messageIn(chat, 'Hello')));
  assert.deepEqual(await send(batch), Array(4).fill('stored'));
  const [first, ended] = chats;
  assert.ok(first && ended);
  await end(ended);
  const stranger = { kind: 'operator', id: ended.operator.id as Id<'operator'> } as const;
  const acknowledged = await Promise.all(
    batch.map(async ({ accountId, engagementId, id }, n) => {
      const by = { kind: 'operator', id: chats[n]?.operator.id as Id<'operator'> } as const;
      return messages.acknowledge(sql, { accountId, engagementId, id, by: n === 3 ? stranger : by });
    }),
  );
  assert.deepEqual(
    acknowledged.map((message) => message?.status),
    ['delivered', undefined, 'delivered', undefined],
  );
  const undelivered = await Promise.all(chats.map(async (chat) => (await storedIn(chat)).undelivered));
  assert.deepEqual(undelivered, [0, 1, 0, 1]);
  const ids = chats.map(({ id }) => id);
  const events = await sql`
    SELECT xid FROM events WHERE engagement_id = ANY(${ids}) AND type = 'engagement.chat.message_status'`;
  assert.equal(events.length, 2);
  assert.equal(new Set(events.map(({ xid }) => xid)).size, 1);
  assert.equal(ofType(await eventsOf(server, first.own), 'engagement.chat.message_status').length, 2);
});

test('typing indicators and visitor events of a batch are appended together, without those that are refused', async () => {
  const chats = await openEngagements(server, 4);
  const [first, , , ended] = chats;
  assert.ok(first && ended);
  await end(ended);
  const writes = await Promise.all(
    chats.map(async (chat, n) => {
      const { accountId, engagementId, by } = await messageIn(chat, '');
      const operator = { kind: 'operator', id: chat.operator.id as Id<'operator'> } as const;
      return { accountId, engagementId, by: n === 1 ? operator : by, at: new Date() };
    }),
  );
  const appended = writes.slice(0, 3).map(({ engagementId }) => engagementId);
  const indications = writes.map((write, n) => ({ ...write, typing: n === 0 }));
  assert.deepEqual([...(await appendIndications(pool, indications)).keys()], appended);
  const happened = writes.map((write) => ({ ...write, id: newId<Id<'visitor_event'>>(), content: 'cart_opened' }));
  const recorded = await appendVisitorEventBatch(pool, happened);
  assert.deepEqual([...recorded.keys()], appended);
  assert.equal(recorded.get(first.id as EngagementId)?.operatorId, first.operator.id);
  const events = await eventsOf(server, first.own);
  const typing = events.filter(({ event_type }) => event_type.includes('typing'));
  assert.deepEqual(
    typing.map(({ event_type: type, typing_indicator: { sender, typing: isTyping } }) => [type, sender.id, isTyping]),
    chats.slice(0, 3).map(({ visitor, operator }, n) => {
      const side = n === 1 ? 'operator' : 'visitor';
      return [`engagement.chat.typing_indicator.${side}`, (n === 1 ? operator : visitor).id, n === 0];
    }),
  );
  const clocks = typing.map(({ typing_indicator: { clock } }) => clock);
  assert.deepEqual(clocks, [clocks[0], clocks[0] + 1, clocks[0] + 2]);
  assert.equal(ofType(events, 'engagement.event').length, 3);
});

test('an id that is committed while a batch is under way is stored and counted once', async () => {
  const [twice, beside] = await openEngagements(server, 2);
  assert.ok(twice && beside);
  const id = newId<MessageId>();
  const batch = [await messageIn(twice, 'Hi', id), await messageIn(beside, 'Hi')];
  const outcomes = await sendPaused(batch, async () => expectStatus(await say(twice, twice.visitor, 'Hi', id), 200));
  assert.deepEqual(outcomes, ['chat_messages_pkey', 'stored']);
  assert.deepEqual(await storedIn(twice), all(1));
  assert.deepEqual(await storedIn(beside), all(1));
});

test('the same id twice at once is stored once, and the second is answered after the first', async () => {
  const chat = await engage(server);
  const message = await messageIn(chat, 'Hi');
  assert.deepEqual(await send([message, message, await messageIn(chat, 'Next')]), [
    'stored',
    'chat_messages_pkey',
    'stored',
  ]);
  assert.deepEqual(await storedIn(chat), all(2));
});

test('an engagement that ends or is locked while a batch is under way is decided after the fact', async () => {
  const [ended, counted, locked] = await openEngagements(server, 3);
  assert.ok(ended && counted && locked);
  const batch = await Promise.all([ended, counted, locked].map(async (chat) => messageIn(chat, 'x')));
  const { outcomes } = await inTransaction(sql, async (own) => {
    await own`SELECT 1 FROM engagements WHERE id = ${locked.id} FOR NO KEY UPDATE`;
    const sending = sendPaused(batch, async () => {
      await end(ended);
      expectStatus(await say(counted, counted.visitor, 'meanwhile'), 200);
    });
    // The batch does not wait for the locked engagement: the others are stored before this transaction ends.
    await until(async () => (await storedIn(counted, own)).messages === 2);
    assert.deepEqual(await storedIn(locked, own), all(0));
    return { outcomes: sending };
  });
  assert.deepEqual(await outcomes, ['refused', 'stored', 'stored']);
  assert.deepEqual(await storedIn(ended), all(0));
  assert.deepEqual(await storedIn(counted), all(2));
  const flags = await sql`
    SELECT payload -> 'undelivered_messages' AS flag FROM events WHERE engagement_id = ${counted.id} AND type LIKE '%message' ORDER BY seq`;
  assert.deepEqual(
    flags.map(({ flag }) => flag),
    [false, true],
  );
  assert.deepEqual(await storedIn(locked), all(1));
});

test('a killed connection fails the whole batch and stores nothing, and repeating it stores each message once', async () => {
  const chats = await openEngagements(server, 4);
  const batch = await Promise.all(chats.map(async (chat, n) => messageIn(chat, n === 2 ? 'pause' : 'x')));
  await inTransaction(sql, async (own) => {
    await own`SELECT pg_advisory_xact_lock(${pauseLock})`;
    const sending = send(batch);
    await until(async () => (await backendsThatPause()).length > 0);
    for (const pid of await backendsThatPause()) await sql`SELECT pg_terminate_backend(${pid})`;
    assert.deepEqual(await sending, Array(4).fill('failed'));
  });
  for (const chat of chats) assert.deepEqual(await storedIn(chat), all(0));
  assert.deepEqual(await send(batch), Array(4).fill('stored'));
  for (const chat of chats) assert.deepEqual(await storedIn(chat), all(1));
});

test('a batch that PostgreSQL ends because it takes too long is written singly: only the slow message waits', async () => {
  const impatient = { ...pools.batches.connection, statement_timeout: 200 };
  const own = server.database.connect({ ...pools.batches, connection: impatient });
  const batches = new Messages({ sql: own, hints: new Hints(sql, server.changes, log), log });
  const chats = await openEngagements(server, 4);
  const [slow, ...others] = await Promise.all(chats.map(async (chat, n) => messageIn(chat, n === 0 ? 'pause' : 'x')));
  assert.ok(slow);
  const { waiting } = await inTransaction(sql, async (holder) => {
    await holder`SELECT pg_advisory_xact_lock(${pauseLock})`;
    const sending = send([slow], batches);
    assert.deepEqual(await send(others, batches), Array(3).fill('stored'));
    return { waiting: sending };
  });
  assert.deepEqual(await waiting, ['stored']);
  for (const chat of chats) assert.deepEqual(await storedIn(chat), all(1));
  await own.end({ timeout: 1 });
});

test('messages race ends and acknowledgements: what is acknowledged is stored before the end, and counted exactly', async () => {
  const chats = await openEngagements(server, 12);
  const answers = await Promise.all(
    chats.map(async (chat, n) => {
      const sent = Array.from({ length: 6 }, async () => {
        const answer = await say(chat, chat.visitor, 'x');
        if (n % 2 === 0 && answer.status === 200) await acknowledge(chat, chat.operator, answer.body.id);
        return answer.status;
      });
      if (n % 3 === 0) sent.push(end(chat).then(() => 0));
      return Promise.all(sent);
    }),
  );
  for (const [n, chat] of chats.entries()) {
    const accepted = answers[n]?.filter((status) => status === 200).length ?? 0;
    const events = await sql<{ type: string }[]>`
      SELECT type FROM events WHERE engagement_id = ${chat.id} AND type ~ 'chat.message$|engagement.end$' ORDER BY seq`;
    const { messages: stored, events: appended, undelivered } = await storedIn(chat);
    assert.deepEqual([stored, appended], [accepted, accepted]);
    if (n % 3 === 0) assert.equal(events.at(-1)?.type, 'engagement.end');
    else assert.deepEqual([accepted, undelivered], [6, n % 2 === 0 ? 0 : 6]);
  }
});

/** In the long form ten times as many. */
const perWriter = process.env['PROVE'] === undefined ? 15 : 150;

test(
  'two processes, one of them killed: every message is stored once, in the order of its writer',
  { timeout: hangMs },
  async () => {
    await using cluster = await startCluster(2);
    const [stays, killed] = cluster.nodes;
    assert.ok(stays && killed);
    const chats = await openEngagements(cluster.reach(stays), 8);
    let isKilled = false;
    let answered = 0;
    const attempt = async (chat: Engaged, url: string, id: string, content: string): Promise<Answer | null> =>
      say({ ...chat, server: { ...chat.server, url } }, chat.visitor, content, id).catch(() => null);
    const write = async (chat: Engaged, n: number): Promise<string[]> => {
      const ids: string[] = [];
      while (ids.length < perWriter) {
        const id = randomUUID();
        const content = String(ids.length);
        // Every message goes to both processes at once, as by a client that does not know whether it arrived.
        const nodes: readonly string[] = isKilled ? [stays.url] : [stays.url, killed.url];
        const answers = await Promise.all(nodes.map(async (url) => attempt(chat, url, id, content)));
        for (const answer of answers) if (answer !== null) assert.equal(answer.status, 200);
        if (answers.every((answer) => answer === null)) continue;
        ids.push(id);
        answered += 1;
        if (n === 0 && ids.length === Math.ceil(perWriter / 2)) {
          isKilled = true;
          await killed.stop('SIGKILL');
        }
      }
      return ids;
    };
    const sent = await Promise.all(chats.map(write));
    assert.equal(answered, chats.length * perWriter);
    for (const [n, chat] of chats.entries()) {
      const ids = (await transcript(chat, chat.visitor)).map(({ id }) => id);
      assert.deepEqual(ids, sent[n]);
      assert.deepEqual(await storedIn(chat, cluster.database.sql), all(perWriter));
    }
  },
);
