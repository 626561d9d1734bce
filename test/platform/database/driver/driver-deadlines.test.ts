import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  databaseErrorCode,
  inTransaction,
  type DatabaseAddress,
} from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import {
  backendOf,
  checkHealth,
  echo,
  endBackend,
  connectionClosed,
  pool,
  withTimeout,
  type Pool,
} from '../../../support/database/pool.ts';
import { startProxy } from '../../../support/network/proxy.ts';
import { until } from '../../../support/server.ts';

/** Tests deadlines, settings and deadlocks: `database.ts` and `pool-watch.ts` in `platform/database/`. */

test('a statement without a response is rejected at its deadline, and its connection is replaced', async (t) => {
  const { proxy, address } = await openSilentWay(t);
  const sql = pool(t, address, { max: 1, statementDeadlineMs: 1_000 });
  assert.equal(await echo(sql, 1), 1);
  proxy.silence(true);
  const pending = [
    sql`SELECT 1`.execute(),
    sql`SELECT ${2}::integer`.execute(),
    sql.begin(async (own) => own`SELECT 3`),
  ];
  for (const each of pending) await assert.rejects(withTimeout(each), connectionClosed);
  proxy.silence(false);
  await checkHealth(sql);
});

test('a slow statement within statement_timeout is not aborted, and a migration has no time limit', async (t) => {
  const { address } = await openSilentWay(t);
  const patient = pool(t, address, { max: 1, connection: { statement_timeout: 0 } });
  const limited = pool(t, address, { max: 1, connection: { statement_timeout: 2_000 } });
  const [[slept], [settings]] = await withTimeout(
    Promise.all([patient<{ at: Date }[]>`SELECT now() AS at FROM pg_sleep(3)`, limited`SELECT pg_sleep(1)`]),
  );
  assert.ok(slept && settings);
  // The error of the server arrives before the deadline of the connection.
  await assert.rejects(withTimeout(limited`SELECT pg_sleep(4)`.execute()), { code: '57014' });
});

test('a connection whose responses arrived while the thread was busy is not given up', async (t) => {
  const sql = pool(t, await emptyDatabase(), { max: 1, connect_timeout: 1 });
  const first = withTimeout(sql`SELECT 1`.execute());
  // After the driver's own microtasks: the timer below runs directly after the one that opens the socket.
  process.nextTick(() => setTimeout(blockThread, 0, 1_500));
  await first;
});

test('a connection that gets no response is given up after connect_timeout', async (t) => {
  const { proxy, address } = await openSilentWay(t);
  proxy.silence(true);
  const sql = pool(t, address, { max: 1, connect_timeout: 1 });
  const began = performance.now();
  await assert.rejects(withTimeout(sql`SELECT 1`.execute()), { code: 'CONNECT_TIMEOUT' });
  assert.ok(performance.now() - began >= 990);
  proxy.silence(false);
  await checkHealth(sql);
});

test('a statement in the queue is not rejected for the time in which the thread was busy', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const gate = Promise.withResolvers<void>();
  const holder = inTransaction(sql, async () => gate.promise);
  const waiting = sql`SELECT 1`.execute();
  setTimeout(blockThread, 0, 11_000);
  // Ends with the block, directly after the check of the pool that was due in the meantime.
  await sleep(600);
  gate.resolve();
  await withTimeout(Promise.all([holder, waiting]));
});

test('the time limit of a transaction includes the wait for a connection', async (t) => {
  const direct = await emptyDatabase();
  const sql = pool(t, direct);
  const gate = Promise.withResolvers<void>();
  const holder = inTransaction(sql, async () => gate.promise);
  const began = performance.now();
  let ran = false;
  const waiting = inTransaction(
    sql,
    async () => {
      ran = true;
    },
    { longestMs: 300 },
  );
  await assert.rejects(withTimeout(waiting), connectionClosed);
  assert.ok(performance.now() - began < 2_000);
  gate.resolve();
  await withTimeout(holder);
  await checkHealth(sql);
  assert.equal(ran, false, 'the transaction does not run after its time limit');
});

test('every connection has its settings before its first statement, including one that replaces a lost one', async (t) => {
  const direct = await emptyDatabase();
  const [sql, killer] = [pool(t, direct, { max: 1, connection: { enable_seqscan: 'off' } }), pool(t, direct)];
  for (let round = 0; round < 2; round++) {
    const [row] = await sql`
      SELECT current_setting('TimeZone') AS zone, current_setting('jit') AS jit, current_setting('enable_seqscan') AS scan,
             current_setting('statement_timeout') AS longest, current_setting('idle_in_transaction_session_timeout') AS idle`;
    assert.deepEqual(row, { zone: 'UTC', jit: 'off', scan: 'off', longest: '15s', idle: '15s' });
    await endBackend(killer, await backendOf(sql));
    await sql`SELECT 1`.catch(() => undefined);
  }
});

test('a connection whose settings fail is not used', async (t) => {
  const direct = await emptyDatabase();
  const sql = pool(t, direct, { max: 1, connection: { work_mem: 'plenty' } });
  const pending = [1, 2, 3].map(async () => withTimeout(sql`SELECT 1`.execute()));
  for (const { status } of await Promise.allSettled(pending)) assert.equal(status, 'rejected');
  const again = async (): Promise<unknown> => withTimeout(sql`SELECT 1`.execute()).catch(databaseErrorCode);
  await until(async () => (await again()) === '22023');
});

/** Creates a function that takes two locks with a pause in between. Two calls in opposite orders deadlock. */
async function makeDeadlocks(sql: Pool): Promise<void> {
  await sql`CREATE TABLE locks (id integer PRIMARY KEY, taken integer NOT NULL DEFAULT 0)`;
  await sql`INSERT INTO locks (id) VALUES (1), (2)`;
  await sql.unsafe(`
    CREATE FUNCTION take(one integer, other integer) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE locks SET taken = taken + 1 WHERE id = one;
      PERFORM pg_sleep(0.2);
      UPDATE locks SET taken = taken + 1 WHERE id = other;
    END $$`);
  // Opens the second connection: opening it could take longer than the pause.
  await sql.begin(async () => sql`SELECT`);
}

test('a statement that loses a deadlock is retried and changes nothing twice', async (t) => {
  const direct = await emptyDatabase();
  const sql = pool(t, direct, { max: 2 });
  await makeDeadlocks(sql);
  await withTimeout(Promise.all([sql`SELECT take(${1}, ${2})`, sql`SELECT take(${2}, ${1})`]));
  assert.deepEqual([...(await sql`SELECT taken FROM locks`)], [{ taken: 2 }, { taken: 2 }]);
  await until(async () => {
    const [row] = await sql`SELECT deadlocks > 0 AS met FROM pg_stat_database WHERE datname = current_database()`;
    return row?.['met'] === true;
  });
});

test('a transaction that loses a deadlock runs once more, unless it opts out', async (t) => {
  const direct = await emptyDatabase();
  const sql = pool(t, direct, { max: 2 });
  await makeDeadlocks(sql);
  let runs = 0;
  const take = async (one: number, other: number, options = {}): Promise<void> =>
    inTransaction(
      sql,
      async (own) => {
        runs += 1;
        await own`UPDATE locks SET taken = taken + 1 WHERE id = ${one}`;
        await own`SELECT pg_sleep(0.2)`;
        await own`UPDATE locks SET taken = taken + 1 WHERE id = ${other}`;
      },
      options,
    );
  await withTimeout(Promise.all([take(1, 2), take(2, 1)]));
  assert.equal(runs, 3);
  assert.deepEqual([...(await sql`SELECT taken FROM locks`)], [{ taken: 2 }, { taken: 2 }]);

  const never = { afterLostRace: 'reject' };
  const outcomes = await withTimeout(Promise.allSettled([take(1, 2, never), take(2, 1, never)]));
  assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  const refused = outcomes.find(({ status }) => status === 'rejected');
  assert.ok(refused?.status === 'rejected');
  assert.equal(refused.reason.code, '40P01');
});

function blockThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function openSilentWay(t: TestContext) {
  const address = await emptyDatabase();
  assert.ok(address.kind === 'socket');
  const proxy = await startProxy({ socket: `${address.directory}/.s.PGSQL.5432` });
  t.after(async () => proxy[Symbol.asyncDispose]());
  const url = `postgres://${address.user}@127.0.0.1:${new URL(proxy.url).port}/${address.database}`;
  return { proxy, address: { kind: 'url', url } satisfies DatabaseAddress };
}
