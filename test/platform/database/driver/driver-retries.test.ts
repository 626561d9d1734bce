import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction, type Finish, type Sql } from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import { checkHealth, echo, pool, withTimeout, type Pool } from '../../../support/database/pool.ts';
import { until } from '../../../support/server.ts';

/** Tests statements that the driver sends again: prepared ones after a change of their tables, and those that lost a deadlock. */

/** Two pools on one database: what `other` changes makes statements stale that `sql` has prepared. */
async function openTables(t: TestContext, max = 1): Promise<{ sql: Pool; other: Pool }> {
  const address = await emptyDatabase();
  const [sql, other] = [pool(t, address, { max }), pool(t, address)];
  await other`CREATE TABLE notes (note text)`;
  await other`CREATE TABLE kinds (id integer PRIMARY KEY, flag boolean, bytes bytea, json jsonb, at timestamptz, list text[])`;
  await other`INSERT INTO kinds (id) VALUES (1), (2)`;
  return { sql, other };
}

const values = { flag: true, bytes: Buffer.from('hi'), json: { x: 1 }, at: new Date(0), list: ['a', 'b'] };

test('a statement that is sent again has the same parameters', async (t) => {
  const { sql, other } = await openTables(t);
  const write = async () => sql`
    UPDATE kinds SET flag = ${values.flag}, bytes = ${values.bytes}, json = ${sql.json(values.json)}, at = ${values.at}, list = ${values.list}
     WHERE id = 1 RETURNING *`;
  await write();
  await other`ALTER TABLE kinds ADD COLUMN more integer`;
  await withTimeout(write());
  const [stored] = await other`SELECT flag, bytes, json, at, list FROM kinds WHERE id = 1`;
  assert.deepEqual({ ...stored }, values);
});

test('a statement that lost a deadlock is sent again with the same parameters', async (t) => {
  const { sql, other } = await openTables(t);
  const holds = Promise.withResolvers<void>();
  const winner = other.begin(async (own) => {
    await own`SET LOCAL deadlock_timeout = '10s'`;
    await own`SELECT FROM kinds WHERE id = 2 FOR UPDATE`;
    holds.resolve();
    await until(async () => (await own`SELECT FROM pg_locks WHERE NOT granted`).length > 0);
    await own`SELECT FROM kinds WHERE id = 1 FOR UPDATE`;
  });
  await holds.promise;
  await withTimeout(
    sql`WITH locked AS (SELECT id FROM kinds ORDER BY id FOR UPDATE)
        UPDATE kinds SET flag = ${values.flag}, bytes = ${values.bytes}, json = ${sql.json(values.json)}, at = ${values.at}, list = ${values.list}
          FROM locked WHERE kinds.id = locked.id`.execute(),
  );
  await withTimeout(winner);
  const [stored] = await other`SELECT flag, bytes, json, at, list FROM kinds WHERE id = 1`;
  assert.deepEqual({ ...stored }, values);
});

test('a stale statement does not mix up the results of those sent after it', async (t) => {
  const { sql, other } = await openTables(t);
  const read = async (n: number) => sql`SELECT kinds.*, ${n}::integer AS n FROM kinds WHERE id = 1`;
  await read(1);
  await echo(sql, 2);
  await other`ALTER TABLE kinds ADD COLUMN more integer`;
  const stale = read(7);
  const echoes = await Promise.all(Array.from({ length: 50 }, async (_, n) => echo(sql, n)));
  assert.deepEqual(echoes, [...echoes.keys()]);
  assert.equal((await withTimeout(stale))[0]?.['n'], 7);
});

test('a stale statement ahead of a transaction is not sent again inside of it', async (t) => {
  const { sql, other } = await openTables(t);
  const single = async () => sql`INSERT INTO kinds (id) SELECT max(id) + 1 FROM kinds RETURNING *`;
  await single();
  await other`ALTER TABLE kinds ADD COLUMN more integer`;
  const stale = withTimeout(single());
  const lost = inTransaction(sql, async (own) => {
    await own`INSERT INTO notes VALUES ('x')`;
    throw new Error('rolled back');
  });
  await assert.rejects(withTimeout(lost), /rolled back/);
  await stale;
  assert.equal((await other`SELECT FROM kinds`).length, 4);
  await checkHealth(sql);
});

const endings: readonly [string, (own: Sql) => Promise<unknown>[]][] = [
  ['alone', (own) => [stale(own)]],
  ['after another', (own) => [write(own, 'fine'), stale(own)]],
  ['before another', (own) => [stale(own), write(own, 'fine')]],
];

async function stale(sql: Sql): Promise<unknown> {
  return sql`INSERT INTO kinds (id) SELECT max(id) + 1 FROM kinds RETURNING *`;
}

async function write(sql: Sql, note: string): Promise<void> {
  await sql`INSERT INTO notes VALUES (${note})`;
}

for (const [name, ending] of endings) {
  test(`a stale statement ${name} fails its transaction, which is complete the next time`, async (t) => {
    const { sql, other } = await openTables(t);
    const all = async (statements: readonly Promise<unknown>[]): Promise<void> => void (await Promise.all(statements));
    const run = async (finishes: boolean): Promise<void> =>
      withTimeout(
        inTransaction(sql, async (own, finish: Finish) => {
          await write(own, 'first');
          await (finishes ? finish : all)(ending(own));
        }),
      );
    for (const finishes of [true, false]) {
      await run(finishes);
      await other`ALTER TABLE kinds ADD COLUMN ${other(`more_${finishes}`)} integer`;
      const [before] = await counts(other);
      await assert.rejects(run(finishes), { code: '0A000' });
      assert.deepEqual((await counts(other))[0], before, 'nothing was written');
      await run(finishes);
      await checkHealth(sql);
    }
  });
}

async function counts(sql: Pool) {
  return sql`SELECT (SELECT count(*) FROM kinds) AS kinds, (SELECT count(*) FROM notes) AS notes`;
}

test('a transaction is committed even if all prepared statements of its connection are gone', async (t) => {
  const { sql, other } = await openTables(t);
  const text = async (note: string): Promise<void> =>
    inTransaction(sql, async (own) => void (await own.unsafe(`INSERT INTO notes VALUES ('${note}')`)));
  await text('one');
  await sql.unsafe('DEALLOCATE ALL');
  await withTimeout(text('two'));
  assert.equal((await other`SELECT FROM notes`).length, 2);
});

test('the deadline of a transaction does not end the statements of others', async (t) => {
  const { sql } = await openTables(t);
  await sql`SELECT`;
  const single = sql`SELECT pg_sleep(1)`.execute();
  const late = inTransaction(sql, async (own) => own`SELECT 1`, { longestMs: 300 });
  await assert.rejects(withTimeout(late), { code: 'CONNECTION_CLOSED' });
  await withTimeout(single);
  await checkHealth(sql);
});

test('a transaction that waits for the statements of others is rejected when their connection is lost', async (t) => {
  const { sql, other } = await openTables(t);
  const [row] = await sql`SELECT pg_backend_pid() AS pid`;
  const single = assert.rejects(withTimeout(sql`SELECT pg_sleep(60)`.execute()));
  const waiting = assert.rejects(withTimeout(inTransaction(sql, async (own) => own`SELECT 1`)));
  await until(async () => (await other`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`).length === 1);
  await other`SELECT pg_terminate_backend(${row?.['pid']})`;
  await Promise.all([single, waiting]);
  await sleep(0);
  await checkHealth(sql);
});
