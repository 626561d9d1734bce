import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyDatabase } from '../../../support/database/database.ts';
import { checkHealth, connectionClosed, echo, pool, withTimeout } from '../../../support/database/pool.ts';
import { openWire } from '../../../support/receivers/wire.ts';
import { until } from '../../../support/server.ts';

/** Tests who gets which connection: `platform/database/driver/pool.ts`. */

test('a single change that waits for a lock holds up no statement of others', async (t) => {
  const address = await emptyDatabase();
  const [sql, locker, watcher] = [pool(t, address, { max: 3 }), pool(t, address), pool(t, address)];
  await sql`CREATE TABLE counters AS SELECT generate_series(1, 2) AS id, 0 AS n`;
  const changes = sql.limitedBy(async (run) => run());
  const add = async (id: number): Promise<unknown> => changes`UPDATE counters SET n = n + 1 WHERE id = ${id}`.execute();
  const blocked = await locker.begin(async (own) => {
    await own`SELECT FROM counters WHERE id = 1 FOR UPDATE`;
    const waiting = [add(1), add(1)];
    await until(async () => {
      // A transaction would see the first answer of pg_stat_activity again.
      const [row] = await watcher<{ count: number }[]>`
        SELECT count(*)::integer AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return row?.count === waiting.length;
    });
    // More than there are connections, so that some are sent behind others.
    const reads = await Promise.all(Array.from({ length: 50 }, async (_, n) => echo(sql, n)));
    assert.deepEqual(
      reads,
      Array.from({ length: 50 }, (_, n) => n),
    );
    await withTimeout(Promise.all([add(2), ...reads.map(async () => sql`SELECT 1`.execute()), add(2)]));
    await withTimeout(changes.begin(async (change) => change`UPDATE counters SET n = n + 1 WHERE id = 2`));
    return waiting;
  });
  await withTimeout(Promise.all(blocked));
  const rows = await sql<{ n: number }[]>`SELECT n FROM counters ORDER BY id`;
  assert.deepEqual(
    rows.map(({ n }) => n),
    [2, 3],
  );
});

test('while no connection can be opened, what could only wait for transactions is rejected soon', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address, { max: 2 });
  await sql.begin(async (own) => {
    await own`SELECT 1`;
    wire.refusing = true;
    await assert.rejects(withTimeout(sql`SELECT 1`.execute()), connectionClosed);
    await assert.rejects(withTimeout(sql.begin(async (other) => other`SELECT 1`)), connectionClosed);
    wire.refusing = false;
  });
  await checkHealth(sql);
});

test('while no connection can be opened, statements follow others on an open one', async (t) => {
  const wire = await openWire(t);
  const sql = pool(t, wire.address, { max: 2 });
  await sql`SELECT 1`;
  wire.refusing = true;
  const slow = sql`SELECT pg_sleep(2)`.execute();
  assert.equal(await echo(sql, 1), 1);
  await slow;
});

test('a statement with an invalid parameter, which is not sent, leaves its connection to others', async (t) => {
  const sql = pool(t, await emptyDatabase(), { max: 1 });
  const changes = sql.limitedBy(async (run) => run());
  const send = async (at: Date): Promise<unknown> => changes`SELECT ${at} AS at`.execute();
  await send(new Date());
  await assert.rejects(withTimeout(send(new Date(Number.NaN))), RangeError);
  await withTimeout(sql.begin(async (own) => own`SELECT 1`));
  await checkHealth(sql);
});
