import assert from 'node:assert/strict';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { connect, inTransaction, type Sql } from '../../../../packages/server/src/platform/database/database.ts';
import { emptyDatabase } from '../../../support/database/database.ts';
import {
  backendOf,
  checkHealth,
  echo,
  endBackend,
  connectionClosed,
  patienceMs,
  pool,
  withTimeout,
  type Pool,
} from '../../../support/database/pool.ts';
import { until } from '../../../support/server.ts';
import { openWire } from '../../../support/receivers/wire.ts';

/** Tests what happens to statements when connections are lost: each is answered or rejected, and gets no rows of others. */

test('an instant of any year comes back as it was, whichever time zone the database is set to', async () => {
  const address = await emptyDatabase();
  const setUp = connect(address, { max: 1 });
  const [row] = await setUp<{ name: string }[]>`SELECT current_database() AS name`;
  await setUp`ALTER DATABASE ${setUp(row?.name ?? '')} SET TimeZone TO 'Europe/Tallinn'`;
  await setUp.end();
  const sql = connect(address, { max: 1 });
  for (const year of ['0001', '0031', '0049', '0050', '0099', '0100', '1800', '2027', '9999']) {
    const at = new Date(`${year}-02-03T04:05:06.789Z`);
    const [found] = await sql<
      { at: Date; all: Date[] }[]
    >`SELECT ${at}::timestamptz AS at, ARRAY[${at}::timestamptz] AS all`;
    assert.deepEqual(found, { at, all: [at] }, year);
  }
  await sql.end();
});

test('a reset in a transaction does not affect the next user of the connection', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  for (const marker of ['first', 'second', 'third']) {
    wire.harm(marker, 'reset');
    // As text, not as a parameter, so that the ROLLBACK is sent at once, before Node reports the closed socket.
    await assert.rejects(
      withTimeout(inTransaction(sql, async (own) => own`SELECT ${sql.unsafe(`'${marker}'`)}`.execute())),
    );
    await checkHealth(sql);
  }
});

test('a write that was pending when the connection closed does not block it forever', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address, { max: 2 });
  await Promise.all([echo(sql, 1), echo(sql, 2)]);
  for (let round = 0; round < 4; round++) {
    wire.harm('pg_sleep', 'close all');
    // A statement sent when one connection has closed goes to the other one, which is closing too.
    const asleep = sql`SELECT pg_sleep(60)`.execute().catch(async () => echo(sql, 3).catch(() => undefined));
    await withTimeout(asleep);
    await Promise.all([checkHealth(sql), checkHealth(sql)]);
  }
});

test('the error that ended a connection is not reported to the next statement', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [pool(t, wire.direct), pool(t, wire.direct)];
  const pid = await backendOf(sql);
  const sleeping = assert.rejects(withTimeout(sql`SELECT pg_sleep(60)`.execute()), connectionClosed);
  await untilAsleep(killer, pid);
  await endBackend(killer, pid);
  await sleeping;
  await checkHealth(sql);
});

test('a partial result is not continued by the next one', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [pool(t, wire.direct, { max: 1 }), pool(t, wire.direct)];
  const pid = await backendOf(sql);
  const half = sql`SELECT repeat('x', 10000), CASE WHEN n > 9 THEN pg_sleep(60) END FROM generate_series(1, 10) AS n`;
  const broken = assert.rejects(withTimeout(half.execute()), connectionClosed);
  await untilAsleep(killer, pid);
  await endBackend(killer, pid);
  await broken;
  assert.equal((await withTimeout(sql`SELECT 1`.execute())).length, 1);
});

async function untilAsleep(killer: Pool, pid: number): Promise<void> {
  await until(async () => {
    const rows = await killer`SELECT FROM pg_stat_activity WHERE pid = ${pid} AND wait_event = 'PgSleep'`;
    return rows.length === 1;
  });
}

test('a connection lost while it opens is retried a limited number of times', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  wire.refusing = true;
  await assert.rejects(withTimeout(sql`SELECT 1`.execute()), connectionClosed);
  assert.equal(wire.connections, 3);
  wire.refusing = false;
  wire.harm('set_config', 'close');
  await checkHealth(sql);
});

test('the settings of a new connection may be lost without ending the process', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  wire.harm('set_config', 'reset');
  await assert.rejects(withTimeout(sql`SELECT 1`.execute()));
  await checkHealth(sql);
});

test('a reserved connection that is lost refuses statements', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [pool(t, wire.direct, { max: 2 }), pool(t, wire.direct)];
  const lost = sql.begin(async (own) => {
    await endBackend(killer, await backendOf(own));
    await assert.rejects(withTimeout(own`SELECT 1`.execute()));
    await assert.rejects(withTimeout(own`SELECT ${1}::integer`.execute()), connectionClosed);
  });
  await assert.rejects(withTimeout(lost), connectionClosed);
  await checkHealth(sql);
});

test('a BEGIN that fills the pipeline has the connection for itself', async (t) => {
  const wire = await openWire(t);
  const [sql, other] = [pool(t, wire.direct), pool(t, wire.direct)];
  const pid = await backendOf(sql);
  const before = Array.from({ length: 100 }, async () => sql`SELECT 1`.execute());
  const transaction = inTransaction(sql, async (own) => own`SELECT ${1}::integer AS n`);
  await withTimeout(Promise.all(before));
  assert.equal((await withTimeout(transaction)).length, 1);
  const rows = await other`SELECT state FROM pg_stat_activity WHERE pid = ${pid}`;
  assert.deepEqual([...rows], [{ state: 'idle' }]);
});

test('no statement of a lost transaction reaches the connection that replaces it', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [pool(t, wire.direct), pool(t, wire.direct)];
  await killer`CREATE TABLE notes (text text)`;
  const gate = Promise.withResolvers<void>();
  const written = Promise.withResolvers<unknown>();
  const transaction = sql.begin(async (own) => {
    await endBackend(killer, await backendOf(own));
    await gate.promise;
    own`INSERT INTO notes VALUES ('stray')`.then(written.resolve, written.reject);
    await written.promise.catch(() => undefined);
  });
  await assert.rejects(withTimeout(transaction), connectionClosed);
  await inTransaction(sql, async (own) => {
    await own`INSERT INTO notes VALUES ('mine')`;
    gate.resolve();
    await assert.rejects(withTimeout(written.promise), connectionClosed);
    // A stray COMMIT would arrive before this statement is answered.
    await own`SELECT ${1}::integer`;
    assert.equal((await killer`SELECT FROM notes`).length, 0);
  });
  assert.deepEqual([...(await killer`SELECT text FROM notes`)], [{ text: 'mine' }]);
});

test('a parameter that cannot be serialized rejects its own statement only', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const later = async (at: Date): Promise<unknown> => withTimeout(sql`SELECT ${at}::timestamptz`.execute());
  await Promise.all([checkHealth(sql), later(new Date(0))]);
  const invalid = new Date(Number.NaN);
  const [before, failed, after] = await Promise.allSettled([echo(sql, 1), later(invalid), echo(sql, 2)]);
  assert.deepEqual([before.status, failed.status, after.status], ['fulfilled', 'rejected', 'fulfilled']);
  await assert.rejects(later(invalid), RangeError);
  await checkHealth(sql);
});

test('statements queued in a transaction are rejected when it is lost', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address);
  const started = Promise.withResolvers<PromiseSettledResult<unknown>[]>();
  wire.harm('first', 'close');
  const transaction = sql.begin(async (own) => {
    const both = [own`SELECT ${'a'}::text AS first`, own`SELECT ${'b'}::text AS second`];
    started.resolve(Promise.allSettled(both));
    await started.promise;
  });
  await assert.rejects(withTimeout(transaction), connectionClosed);
  const states = (await withTimeout(started.promise)).map(({ status }) => status);
  assert.deepEqual(states, ['rejected', 'rejected']);
  await checkHealth(sql);
});

test('a pool can be ended while a transaction of it is lost', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [connect(wire.direct, { max: 1 }), pool(t, wire.direct)];
  const started = Promise.withResolvers<number>();
  const transaction = sql.begin(async (own) => {
    started.resolve(await backendOf(own));
    await own`SELECT pg_sleep(60)`;
  });
  const rejected = assert.rejects(withTimeout(transaction), connectionClosed);
  const pid = await started.promise;
  await untilAsleep(killer, pid);
  const ended = sql.end();
  await endBackend(killer, pid);
  await rejected;
  await withTimeout(ended);
});

test('a pool can be ended after it has lost a connection', async (t) => {
  const wire = await openWire(t);
  const sql = connect(wire.address, { max: 1 });
  wire.harm('SELECT 1', 'close');
  await assert.rejects(withTimeout(sql`SELECT 1`.execute()), connectionClosed);
  await withTimeout(sql.end());
});

test('a COMMIT without a response rejects and is not sent again', async (t) => {
  const wire = await openWire(t);
  const [sql, direct] = [pool(t, wire.address), pool(t, wire.direct)];
  await direct`CREATE TABLE notes (text text)`;
  wire.harm('commit', 'swallow');
  const transaction = inTransaction(sql, async (own) => own`INSERT INTO notes VALUES ('once')`);
  await assert.rejects(withTimeout(transaction), connectionClosed);
  await checkHealth(sql);
  assert.equal((await direct`SELECT FROM notes`).length, 1);
});

test('a transaction that takes too long is aborted with its connection', async (t) => {
  const wire = await openWire(t);
  const [sql, direct] = [pool(t, wire.direct), pool(t, wire.direct)];
  const pid = await backendOf(sql);
  const began = performance.now();
  const asleep = inTransaction(sql, async (own) => own`SELECT pg_sleep(10)`.execute(), { longestMs: 100 });
  await assert.rejects(withTimeout(asleep), connectionClosed);
  const forgetful = inTransaction(sql, async () => new Promise(() => undefined), { longestMs: 100 });
  await assert.rejects(withTimeout(forgetful), connectionClosed);
  assert.ok(performance.now() - began < patienceMs);
  await checkHealth(sql);
  assert.notEqual(await backendOf(sql), pid);
  await direct`SELECT pg_terminate_backend(${pid})`;
});

test('a lost transaction rejects after its work has stopped, and nothing runs afterwards', async (t) => {
  const wire = await openWire(t);
  const [sql, killer] = [pool(t, wire.direct), pool(t, wire.direct)];
  const work: string[] = [];
  const transaction = inTransaction(sql, async (own) => {
    const [row] = await own<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await endBackend(killer, row?.pid ?? 0);
    await killer`SELECT pg_sleep(0.05)`;
    work.push('stopped');
  }).catch(() => work.push('rejected'));
  await withTimeout(transaction);
  assert.deepEqual(work, ['stopped', 'rejected']);
});

test('a branch of a transaction that is not awaited changes nothing', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.direct);
  await sql`CREATE TABLE notes (text text)`;
  const stray = Promise.withResolvers<void>();
  const write = async (own: Sql): Promise<void> => {
    await new Promise(setImmediate);
    await own`INSERT INTO notes VALUES ('stray')`;
  };
  const transaction = inTransaction(sql, async (own) => {
    write(own).then(stray.resolve, stray.reject);
    throw new Error('refused');
  });
  await Promise.all([
    assert.rejects(withTimeout(transaction), { message: 'refused' }),
    assert.rejects(withTimeout(stray.promise), connectionClosed),
  ]);
  assert.equal((await sql`SELECT FROM notes`).length, 0);
});

test('PostgreSQL compiles no statement of Usher, however expensive it looks', async () => {
  const address = await emptyDatabase();
  const setUp = connect(address, { max: 1 });
  const [row] = await setUp<{ name: string }[]>`SELECT current_database() AS name`;
  await setUp`ALTER DATABASE ${setUp(row?.name ?? '')} SET jit TO on`;
  await setUp.end();
  const sql = connect(address, { max: 1, connection: { enable_seqscan: 'off' } });
  const [setting] = await sql<{ jit: string }[]>`SELECT current_setting('jit') AS jit`;
  assert.equal(setting?.jit, 'off');
  await sql.end();
});

test('COPY TO STDOUT ends when its reader is slow, and the next statement is answered', async (t) => {
  const sql = pool(t, await emptyDatabase());
  const copy = async (own: Sql): Promise<number> => {
    let length = 0;
    for await (const chunk of await own
      .unsafe("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 400)) TO STDOUT")
      .readable()) {
      length += (chunk as Buffer).length;
      await new Promise(setImmediate);
    }
    return length;
  };
  for (let time = 0; time < 5; time += 1) assert.equal(await withTimeout(inTransaction(sql, copy)), 400 * 1_001);
  await checkHealth(sql);
});

test('COPY FROM STDIN rejects with the error of the server, also after its last row, and the transaction is rolled back', async (t) => {
  const address = await emptyDatabase();
  const sql = pool(t, address);
  await sql`CREATE TABLE notes (id integer PRIMARY KEY)`;
  const copy = (rows: readonly string[]) => async (own: Sql) =>
    pipeline(rows, await own.unsafe('COPY notes FROM STDIN').writable());
  await withTimeout(inTransaction(sql, copy(['1\n', '2\n'])));
  await assert.rejects(withTimeout(inTransaction(sql, copy(['3\n', '1\n']))), { code: '23505' });
  await assert.rejects(withTimeout(inTransaction(sql, copy(['none\n', ...Array<string>(50_000).fill('4\n')]))), {
    code: '22P02',
  });
  async function* failing() {
    yield '5\n';
    throw new Error('the source failed');
  }
  await assert.rejects(
    withTimeout(
      inTransaction(sql, async (own) => pipeline(failing(), await own.unsafe('COPY notes FROM STDIN').writable())),
    ),
    { message: 'the source failed' },
  );
  await checkHealth(sql);
  assert.equal((await sql`SELECT FROM notes`).length, 2);
  const killer = pool(t, address);
  async function* cutOff() {
    yield '6\n';
    await endBackend(killer, await backendOfCopy(killer));
  }
  const lost = inTransaction(sql, async (own) =>
    pipeline(cutOff(), await own.unsafe('COPY notes FROM STDIN').writable()),
  );
  await assert.rejects(withTimeout(lost));
  await checkHealth(sql);
});

async function backendOfCopy(sql: Pool): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`SELECT pid FROM pg_stat_progress_copy WHERE datname = current_database()`;
  assert.ok(row);
  return row.pid;
}
