import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { test, type TestContext } from 'node:test';
import { inTransaction, type Finish, type Sql } from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import {
  backendOf,
  checkHealth,
  connectionClosed,
  echo,
  pool,
  withTimeout,
  type Pool,
} from '../../../support/database/pool.ts';
import { openWire } from '../../../support/receivers/wire.ts';

/** How BEGIN and COMMIT share round trips with statements, and that nothing is committed that should not be. */

type Work = (sql: Sql, finish: Finish) => Promise<unknown>;

const select = async (sql: Sql, n: number): Promise<unknown> =>
  sql`SELECT ${n}::integer AS n`.then(([row]) => row?.['n']);

/** A `>` for each write of the client and a `<` for its responses, on a connection that has prepared the statements. */
async function roundTrips(t: TestContext, work: Work): Promise<string> {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  for (let round = 0; round < 2; round += 1) await withTimeout(inTransaction(sql, work));
  wire.spoken = '';
  await withTimeout(inTransaction(sql, work));
  return wire.spoken.replaceAll(/<+/g, '<');
}

test('BEGIN is sent with the first statement, and COMMIT after the last', async (t) => {
  const one = await roundTrips(t, async (sql) => select(sql, 1));
  assert.equal(one, '><><');
});

test('COMMIT is sent with the statements that finish the transaction', async (t) => {
  const finished = await roundTrips(t, async (sql, finish) => {
    assert.equal(await select(sql, 1), 1);
    await finish([select(sql, 2), select(sql, 3)]);
  });
  assert.equal(finished, '><><');
});

test('statements sent together wait for the first, and then share a round trip', async (t) => {
  const together = await roundTrips(t, async (sql) => {
    const answers = await Promise.all([1, 2, 3].map(async (n) => select(sql, n)));
    assert.deepEqual(answers, [1, 2, 3]);
  });
  assert.equal(together, '><><><');
});

test('a transaction without statements, or with nothing after the first, is committed', async (t) => {
  const sql = await openNotes(t);
  await withTimeout(inTransaction(sql, async () => undefined));
  await withTimeout(inTransaction(sql, async (own, finish) => finish([write(own, 'only')])));
  await withTimeout(inTransaction(sql, async (_own, finish) => finish([])));
  assert.deepEqual(await notes(sql), ['only']);
  await checkHealth(sql);
});

test('a text of several statements can be the first of a transaction', async (t) => {
  const sql = await openNotes(t);
  const several = `INSERT INTO notes VALUES ('a'); INSERT INTO notes VALUES ('b')`;
  await withTimeout(inTransaction(sql, async (own) => Promise.all([own.unsafe(several), write(own, 'c')])));
  assert.deepEqual(await notes(sql), ['a', 'b', 'c']);
  const failing = inTransaction(sql, async (own) => own.unsafe(`${several}; SELECT 1 / 0`));
  await assert.rejects(withTimeout(failing), { code: '22012' });
  assert.deepEqual(await notes(sql), ['a', 'b', 'c']);
  await checkHealth(sql);
});

test('if BEGIN fails, no statement of the transaction runs, and the connection is used for others', async (t) => {
  const sql = await openNotes(t, 2);
  const statements: ((own: Sql) => Promise<unknown>)[] = [
    async (own) => write(own, 'alone'),
    async (own) => Promise.all([write(own, 'first'), write(own, 'second'), write(own, 'third')]),
    async (own) => own.unsafe(`INSERT INTO notes VALUES ('text'); INSERT INTO notes VALUES ('more')`),
  ];
  for (const run of statements) {
    await assert.rejects(withTimeout(sql.begin('nonsense', run)), { code: '42601' });
    assert.deepEqual(await notes(sql), []);
  }
  const ignoring = sql.begin('nonsense', async (own) => {
    await write(own, 'ignored').catch(() => undefined);
    await write(own, 'later');
  });
  await assert.rejects(withTimeout(ignoring), connectionClosed);
  assert.deepEqual(await notes(sql), []);
  await Promise.all([checkHealth(sql), checkHealth(sql)]);
});

test('statements sent together with a COPY wait for it', async (t) => {
  const sql = await openNotes(t);
  await withTimeout(
    inTransaction(sql, async (own) => {
      await select(own, 1);
      const described = own`SELECT ${2}::bigint`.execute();
      const copied = own`COPY notes FROM STDIN`.writable().then(async (rows) => pipeline(Readable.from(['a\n']), rows));
      await Promise.all([described, copied, write(own, 'b')]);
    }),
  );
  assert.deepEqual(await notes(sql), ['a', 'b']);
});

test('if a finishing statement fails, everything is rolled back', async (t) => {
  const sql = await openNotes(t);
  const endings: ((own: Sql) => Promise<unknown>[])[] = [
    (own) => [own`SELECT 1 / 0`],
    (own) => [write(own, 'second'), own`SELECT 1 / 0`.execute()],
    (own) => [own`SELECT 1 / 0`.execute(), write(own, 'second')],
    // The driver cannot send this one.
    (own) => [write(own, 'second'), own`INSERT INTO notes VALUES (${new Date(Number.NaN)}::timestamptz::text)`],
    // This one fails before it has a statement.
    (own) => [write(own, 'second'), Promise.reject(new Error('no statement'))],
  ];
  for (const ending of endings) {
    for (let round = 0; round < 2; round += 1) {
      const failing = inTransaction(sql, async (own, finish) => {
        await write(own, 'first');
        await finish(ending(own));
      });
      await assert.rejects(withTimeout(failing));
      assert.deepEqual(await notes(sql), []);
    }
  }
  await checkHealth(sql);
});

test('a constraint that is checked at COMMIT rejects the transaction', async (t) => {
  const sql = await openNotes(t);
  await sql`CREATE TABLE unique_notes (note text UNIQUE DEFERRABLE INITIALLY DEFERRED)`;
  const twice = inTransaction(sql, async (own, finish) => {
    await write(own, 'first');
    await finish([own`INSERT INTO unique_notes VALUES ('same'), ('same')`]);
  });
  await assert.rejects(withTimeout(twice), { code: '23505' });
  assert.deepEqual(await notes(sql), []);
  await checkHealth(sql);
});

test('a statement after the finish is refused, and does not reach the next user of the connection', async (t) => {
  const sql = await openNotes(t);
  const late = inTransaction(sql, async (own, finish) => {
    await write(own, 'first');
    await Promise.all([finish([write(own, 'second')]), new Promise((resolve) => setImmediate(resolve))]);
    await write(own, 'late');
  });
  await assert.rejects(withTimeout(late), connectionClosed);
  assert.deepEqual(await notes(sql), ['first', 'second']);
});

test('a COMMIT that is sent with the last statement and gets no response rejects', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  await sql`CREATE TABLE notes (note text)`;
  const work = async (own: Sql, finish: Finish): Promise<void> => {
    await select(own, 1);
    await finish([write(own, 'last')]);
  };
  await withTimeout(inTransaction(sql, work));
  wire.harm('last', 'swallow');
  await assert.rejects(withTimeout(inTransaction(sql, work)), connectionClosed);
  await checkHealth(sql);
  assert.deepEqual(await notes(sql), ['last', 'last'], 'PostgreSQL has committed');
});

test('transactions and single statements share connections under load, and each sees its own transaction only', async (t) => {
  const sql = await openNotes(t, 3);
  const transactions = Array.from({ length: 200 }, async (_, n) =>
    inTransaction(sql, async (own, finish) => {
      const before = await backendOf(own);
      await write(own, `note ${n}`);
      if (n % 5 === 0) throw new Error('rolled back');
      const [during, id] = await Promise.all([backendOf(own), own`SELECT txid_current_if_assigned() AS id`]);
      assert.equal(during, before);
      assert.notEqual(id[0]?.['id'], null);
      await finish([write(own, `more ${n}`), select(own, n)]);
    }),
  );
  const singles = Array.from({ length: 400 }, async (_, n) => {
    assert.equal(await echo(sql, n), n);
    const [row] = await sql`SELECT txid_current_if_assigned() AS id`;
    assert.equal(row?.['id'], null, 'a single statement is not in a transaction of others');
  });
  const outcomes = await withTimeout(Promise.allSettled(transactions));
  await withTimeout(Promise.all(singles));
  const failed = outcomes.filter(({ status }) => status === 'rejected');
  assert.equal(failed.length, 40);
  assert.equal((await notes(sql)).length, 320);
  await checkHealth(sql);
});

async function openNotes(t: TestContext, max = 1): Promise<Pool> {
  const sql = pool(t, await emptyDatabase(), { max });
  await sql`CREATE TABLE notes (note text)`;
  return sql;
}

async function write(sql: Sql, note: string): Promise<void> {
  await sql`INSERT INTO notes VALUES (${note})`;
}

async function notes(sql: Pool): Promise<unknown[]> {
  const rows = await sql`SELECT note FROM notes ORDER BY note`;
  return rows.map(({ note }) => note);
}
