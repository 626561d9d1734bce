import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { missedEvents, readBatch, readPosition, readQuietAccounts } from '../../packages/server/src/feed/log.ts';
import { connect, type Sql } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { engage, sendText } from '../support/people/chat.ts';
import { isMessage, openFeed } from '../support/people/feed.ts';
import { openWorld } from '../support/fixture.ts';
import { countRowsRead } from '../support/database/rows-read.ts';

const { server, account } = await openWorld();
const { sql } = server.database;
const [{ accountId } = assert.fail()] = await sql<{ accountId: AccountId }[]>`
  SELECT account_id AS "accountId" FROM operators WHERE id = ${account.adminId}`;

/** Begins a write transaction in another database of the server and leaves it open during `run`. */
async function forget(run: () => Promise<void>): Promise<void> {
  const other = connect(await emptyDatabase(), { max: 1 });
  try {
    await other.begin(async (forgotten) => {
      await forgotten`SELECT pg_current_xact_id()`;
      await run();
    });
  } finally {
    await other.end();
  }
}

/** Uses up this many transaction ids. Returns the first of them. */
async function useTransactionIds(count: number): Promise<number> {
  const pool = connect(server.database.address, { max: 1 });
  try {
    await pool`CREATE TEMP TABLE IF NOT EXISTS used (n integer)`;
    const [row] = await pool<{ id: number }[]>`SELECT pg_current_xact_id()::text::float8 AS id`;
    await pool.unsafe(`
      DO $$ BEGIN
        FOR n IN 1..${count} LOOP
          BEGIN
            INSERT INTO used VALUES (n);
          EXCEPTION WHEN division_by_zero THEN NULL;
          END;
        END LOOP;
      END $$`);
    return (row?.id ?? 0) + 1;
  } finally {
    await pool.end();
  }
}

async function appendEvent(by: Sql, id = randomUUID()): Promise<string> {
  await by`
    INSERT INTO events (account_id, id, type, site_id, occurred_at, payload)
    VALUES (${accountId}, ${id}, 'engagement.start', ${account.siteId}, now(), '{}')`;
  return id;
}

const ids = (batch: Awaited<ReturnType<typeof readBatch>>): string[] => batch?.events.map(({ id }) => id) ?? [];

test('a forgotten write transaction in another database does not make reads of the feed longer', async () => {
  await forget(async () => {
    const before = await readPosition(sql, accountId);
    const first = await useTransactionIds(5_000);
    await sql`
      INSERT INTO events (account_id, xid, id, type, site_id, occurred_at, payload)
      SELECT ${accountId}, log_position(f.epoch, (${first}::bigint + n)::text::xid8), gen_random_uuid(), 'engagement.start',
             ${account.siteId}, now(), '{}'
        FROM generate_series(1, 4900) AS n, log_epoch_in_force AS f`;
    const all = (await readBatch(sql, accountId, before)) ?? assert.fail();
    assert.equal(all.events.length, 4_900);
    const { position } = all;
    assert.deepEqual(ids(await readBatch(sql, accountId, position)), []);
    const reads = {
      batch: async (own: Sql) => readBatch(own, accountId, position),
      poll: async (own: Sql) => readQuietAccounts(own, [{ accountId, position }]),
      missed: async (own: Sql) =>
        missedEvents(own, accountId, {
          from: position,
          upTo: position,
          scope: { visitors: [], operators: [], sites: [account.siteId] },
        }),
    };
    for (const [name, read] of Object.entries(reads)) {
      const rows = await countRowsRead(sql, 'events_%', read);
      assert.ok(rows < 1_100, `${name} read ${rows} events`);
    }
  });
});

test('events of long transactions are read once, whenever they commit', async () => {
  const writers = [1, 2].map(() => connect(server.database.address, { max: 1 }));
  try {
    const [first = assert.fail(), second = assert.fail()] = writers;
    let position = await readPosition(sql, accountId);
    const read = async (): Promise<string[]> => {
      const [quiet] = (await readQuietAccounts(sql, [{ accountId, position }])).keys();
      const batch = (await readBatch(sql, accountId, position)) ?? assert.fail();
      assert.equal(quiet !== undefined, batch.events.length === 0, 'the poll finds what a read finds');
      ({ position } = batch);
      return ids(batch);
    };
    const start = position;
    let [late, later, meanwhile] = ['', '', ''];
    await first.begin(async (one) => {
      late = await appendEvent(one);
      await second.begin(async (two) => {
        later = await appendEvent(two);
        await useTransactionIds(2_500);
        meanwhile = await appendEvent(sql);
        assert.deepEqual(await read(), [meanwhile]);
        assert.deepEqual(await read(), []);
      });
      assert.deepEqual(await read(), [later]);
      await useTransactionIds(2_500);
      assert.deepEqual(await read(), []);
    });
    assert.deepEqual(await read(), [late]);
    assert.deepEqual(await read(), []);
    assert.deepEqual(ids(await readBatch(sql, accountId, start)).toSorted(), [late, later, meanwhile].toSorted());
  } finally {
    for (const writer of writers) await writer.end();
  }
});

test('an open feed and a reader who resumes are sent the event of a transaction that lasted for thousands of others', async () => {
  const chat = await engage(server);
  const { operator, visitor, own, id } = chat;
  await using feed = await openFeed(server, { token: operator.token });
  const writer = connect(server.database.address, { max: 1 });
  let lastId = '';
  try {
    await writer.begin(async (held) => {
      await held`
        INSERT INTO events (account_id, id, type, site_id, engagement_id, visitor_id, operator_id, occurred_at, payload)
        SELECT account_id, ${randomUUID()}, 'engagement.chat.message', ${own.siteId}, ${id}, ${visitor.id}, ${operator.id}, now(),
               ${JSON.stringify({ message: { content: 'late' } })}::text::json
          FROM engagements WHERE id = ${id}`;
      await useTransactionIds(2_500);
      await sendText(chat, visitor, 'at once');
      await feed.until(isMessage('at once'));
      lastId = feed.lastId();
    });
  } finally {
    await writer.end();
  }
  await feed.until(isMessage('late'));
  await using back = await openFeed(server, { token: operator.token, lastId });
  await back.until(isMessage('late'));
  assert.equal((await back.untilType('feed.open')).data.resumed, true);
});
