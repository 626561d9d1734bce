import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  databaseErrorCode,
  inTransaction,
  isDatabaseUnavailable,
  type DatabaseAddress,
  type Sql,
} from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import { checkHealth, pool, withTimeout, type Pool } from '../../../support/database/pool.ts';
import { startProxy } from '../../../support/network/proxy.ts';
import { hangMs } from '../../../support/slowness.ts';

/**
 * Random statements and transactions while the server fails some of them in the middle of their results, cancels others, and ends
 * connections. Each statement either gets exactly its own rows or is rejected for a reason that occurs here.
 *
 * `DRIVER_RANDOM_SECONDS` makes the test longer, `DRIVER_RANDOM_SEED` repeats the choices of a run.
 */

const seconds = Number(process.env['DRIVER_RANDOM_SECONDS'] ?? 5);
const seed = Number(process.env['DRIVER_RANDOM_SEED'] ?? Date.now() % 1_000_000);
const workers = 24;

/** The mulberry32 generator. */
function randomFrom(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Random = (below: number) => number;

interface Run {
  readonly sql: Pool;
  readonly random: Random;
  /** Makes the rows of each statement distinct. */
  next: number;
  readonly counts: { answered: number; rejected: number; committed: number };
}

test('an error in the middle of a result leaves no holes in the next one', async (t) => {
  const sql = pool(t, await emptyDatabase());
  await assert.rejects(withTimeout(sql`SELECT 10 / (5 - n) AS n FROM generate_series(1, 9) AS n`.execute()), {
    code: '22012',
  });
  const rows = await withTimeout(sql`SELECT 'whole' AS text`.execute());
  assert.deepEqual([...rows], [{ text: 'whole' }]);
});

test('a statement that is sent again reports why it failed the second time', async (t) => {
  const address = await emptyDatabase();
  const [sql, other] = [pool(t, address), pool(t, address)];
  await other`CREATE TABLE notes (id integer PRIMARY KEY)`;
  const add = async (id: number) => sql`INSERT INTO notes VALUES (${id}) RETURNING *`;
  await add(1);
  await other`ALTER TABLE notes ADD COLUMN more integer`;
  await assert.rejects(withTimeout(add(1)), { code: '23505' });
});

for (const way of ['directly', 'through a proxy that cuts connections'] as const)
  test(
    `random statements ${way} get their own rows, whatever happens to others`,
    { timeout: hangMs + seconds * 2_000 },
    async (t) => {
      const direct = await emptyDatabase();
      const random = randomFrom(seed);
      const { address, cut } = await openWay(t, direct, way === 'directly', random);
      const [sql, other] = [pool(t, address, { max: 4 }), pool(t, direct)];
      await other`CREATE TABLE notes (id bigint PRIMARY KEY, worker integer NOT NULL, more text)`;
      const run: Run = { sql, random, next: 0, counts: { answered: 0, rejected: 0, committed: 0 } };
      const stopped = new AbortController();
      const committed = Promise.all(
        Array.from({ length: workers }, async (_, worker) => {
          const ids: string[] = [];
          while (!stopped.signal.aborted) await operate(run, worker, ids);
          return ids;
        }),
      );
      committed.catch(() => stopped.abort());
      const until = performance.now() + seconds * 1_000;
      while (performance.now() < until && !stopped.signal.aborted) await harm(other, random, cut);
      stopped.abort();
      const ids = (await withTimeout(committed)).flat();
      t.diagnostic(`seed ${seed}: ${JSON.stringify(run.counts)}`);
      assert.ok(run.counts.answered > 100 && run.counts.rejected > 10 && run.counts.committed > 10);
      const stored = await other<{ id: string }[]>`SELECT id FROM notes`;
      const there = new Set(stored.map(({ id }) => id));
      assert.deepEqual(
        ids.filter((id) => !there.has(id)),
        [],
        'what was committed is stored',
      );
      await checkHealthSoon(sql);
    },
  );

async function openWay(t: TestContext, direct: DatabaseAddress, isDirect: boolean, random: Random) {
  if (isDirect) return { address: direct, cut: () => undefined };
  assert.ok(direct.kind === 'socket');
  const proxy = await startProxy({ socket: `${direct.directory}/.s.PGSQL.5432` });
  t.after(async () => proxy[Symbol.asyncDispose]());
  const url = `postgres://${direct.user}@127.0.0.1:${new URL(proxy.url).port}/${direct.database}`;
  const cut = (): void => {
    if (random(2) === 0) proxy.cut();
    else void proxy.cutAfter(random(20_000));
  };
  return { address: { kind: 'url', url } satisfies DatabaseAddress, cut };
}

/** Cancels a statement, ends a connection, cuts connections, or changes the table that prepared statements read; then waits a little. */
async function harm(other: Pool, random: Random, cut: () => void): Promise<void> {
  const victims = other`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`;
  const [victim] = await victims;
  const pid = victim?.['pid'] ?? 0;
  const choice = random(20);
  if (choice < 12) await other`SELECT pg_cancel_backend(${pid})`;
  else if (choice < 15) await other`SELECT pg_terminate_backend(${pid})`;
  else if (choice < 18) cut();
  else {
    await other.unsafe(`ALTER TABLE notes ALTER COLUMN more TYPE ${random(2) === 0 ? 'text' : 'bytea'} USING NULL`);
  }
  await other`SELECT pg_sleep(${random(40) / 1_000}::double precision)`;
}

/** A statement or a transaction. Adds to `ids` what was certainly committed. */
async function operate(run: Run, worker: number, ids: string[]): Promise<void> {
  const { sql, random } = run;
  const kind = random(10);
  if (kind < 6) return count(run, statement(run, sql));
  if (kind === 6) return void (await Promise.all([1, 2, 3, 4].map(async () => count(run, statement(run, sql)))));
  const written: string[] = [];
  const write = async (own: Sql): Promise<void> => {
    const id = String((run.next += 1));
    written.push(id);
    const rows = await own`INSERT INTO notes (id, worker) VALUES (${id}, ${worker}) RETURNING *`;
    assert.deepEqual([rows.length, rows[0]?.['id'], rows[0]?.['worker']], [1, id, worker]);
  };
  const transaction = inTransaction(sql, async (own, finish) => {
    written.length = 0;
    await write(own);
    if (random(3) === 0) await statement(run, own);
    if (random(8) === 0) throw new RolledBack();
    if (random(2) === 0) await finish([write(own), statement(run, own)]);
    else await Promise.all([write(own), write(own)]);
  });
  await count(
    run,
    transaction.then(() => {
      run.counts.committed += 1;
      ids.push(...written);
    }),
  );
}

class RolledBack extends Error {}

const expectedCodes = new Set(['22012', '25P02', '0A000']);

async function count({ counts }: Run, outcome: Promise<void>): Promise<void> {
  try {
    await withTimeout(outcome);
    counts.answered += 1;
  } catch (error) {
    const isExpected =
      error instanceof RolledBack ||
      isDatabaseUnavailable(error) ||
      expectedCodes.has(databaseErrorCode(error) ?? 'none');
    if (!isExpected) throw error;
    counts.rejected += 1;
  }
}

/** One statement, whose rows are checked. */
async function statement(run: Run, sql: Sql): Promise<void> {
  const { random } = run;
  const mark = (run.next += 1);
  const length = random(4) === 0 ? random(400) : random(5);
  switch (random(6)) {
    case 0: {
      // The error comes after some of the rows were sent.
      const at = random(length + 1);
      const rows = await sql`
        SELECT ${mark}::integer AS mark, 1 / (n - ${at}) AS x, repeat('x', 200) AS text FROM generate_series(1, ${length}::integer) AS n`;
      assert.ok(at === 0 || at > length, 'a division by zero is an error');
      return assert.equal(rows.length, length);
    }
    case 1: {
      const rows =
        await sql`SELECT ${mark}::integer AS mark, pg_sleep(${random(10) / 1_000}::double precision)::text AS slept`;
      return assert.deepEqual([...rows], [{ mark, slept: '' }]);
    }
    case 2: {
      const list = Array.from({ length }, (_, n) => `${mark}, "${n}"`);
      const rows = await sql`SELECT ${list}::text[] AS list, ${mark % 2 === 0} AS flag, ${sql.json({ mark })} AS json`;
      return assert.deepEqual([...rows], [{ list, flag: mark % 2 === 0, json: { mark } }]);
    }
    case 3: {
      const [row] = await sql.unsafe<{ mark: number }[]>(`SELECT ${mark} AS mark`);
      return assert.deepEqual(row, { mark });
    }
    case 4: {
      const rows = await sql`SELECT id, worker, more FROM notes ORDER BY id LIMIT ${length}::integer`;
      for (const row of rows) assert.deepEqual(Object.keys(row), ['id', 'worker', 'more']);
      return;
    }
    default: {
      const rows = await sql`SELECT ${mark}::integer AS mark, n FROM generate_series(1, ${length}::integer) AS n`;
      const expected = Array.from({ length }, (_, n) => ({ mark, n: n + 1 }));
      return assert.deepEqual([...rows], expected);
    }
  }
}

/** The last harm may still take effect: the first statements may fail, but no wrong row is accepted. */
async function checkHealthSoon(sql: Pool): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1)
    try {
      return await checkHealth(sql);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
  await checkHealth(sql);
}
