import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect } from '../../../packages/server/src/platform/database/database.ts';
import { moveDueTimes } from '../../../packages/server/src/webhooks/dispatcher/reading/move-due-times.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { forThisFile } from '../../support/fixture.ts';
import { insertMany } from '../../support/many-rows.ts';

/** No server uses this database, so that only these moves read and write deliveries. */
const address = await cloneDatabase();
const { sql } = await forThisFile(openPool());

function openPool() {
  const pool = connect(address, { max: 1 });
  return { sql: pool, close: async () => pool.end() };
}

const others = 20_000;
/** Several batches. Each third delivery is due with the two before, and each second is of the same event as the one before. */
const count = 3_500;
const dueAt = "date_trunc('hour', now()) + interval '1 hour' + n / 3 * interval '1 second'";

async function addDestination(rows: number, shiftMs: number): Promise<string> {
  const id = randomUUID();
  await insertMany(address, [
    { table: 'destinations', count: 1, values: { id: `'${id}'`, clock_shift_ms: String(-shiftMs) } },
    {
      table: 'deliveries',
      count: rows,
      // After five failures the longest delay is four hours, which limits none of these times.
      values: { destination_id: `'${id}'`, due_at: dueAt, event_seq: 'n / 2', attempts: '6', state: "'pending'" },
    },
    { table: 'deliveries', count: 100, values: { destination_id: `'${id}'`, event_seq: 'n', state: "'pending'" } },
  ]);
  return id;
}

/** By how many milliseconds each delayed delivery was moved, without repetitions, and what the destination's row says. */
async function movesOf(id: string): Promise<{ byMs: number[]; shiftMs: number; isMoving: boolean }> {
  const moves = await sql<{ byMs: number }[]>`
    SELECT DISTINCT round(extract(epoch FROM due_at - before) * 1000)::float8 AS "byMs"
      FROM deliveries JOIN due_before USING (id) WHERE destination_id = ${id} AND due_at IS NOT NULL ORDER BY 1`;
  const [row = assert.fail()] = await sql<{ shiftMs: number; isMoving: boolean }[]>`
    SELECT clock_shift_ms::float8 AS "shiftMs", moving_by_ms IS NOT NULL AS "isMoving" FROM destinations WHERE id = ${id}`;
  return { byMs: moves.map(({ byMs }) => byMs), ...row };
}

async function moveAll(): Promise<void> {
  while (!(await moveDueTimes(sql)));
}

async function rowsRead(): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ read: number }[]>`
    SELECT (seq_tup_read + idx_tup_fetch)::float8 AS read FROM pg_stat_user_tables WHERE relname = 'deliveries'`;
  return row?.read ?? 0;
}

test('after a step of the clock, any number of due times is moved in batches, each once, also after an interruption', async () => {
  await addDestination(others, 0);
  const later = await addDestination(count, 60_000);
  const earlier = await addDestination(count, -60_000);
  const settled = await addDestination(10, 0);
  await sql`CREATE TABLE due_before AS SELECT id, due_at AS before FROM deliveries`;
  await sql`CREATE TABLE interruption (event_seq bigint)`;
  await sql`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM moved) > 1010 THEN RAISE 'a statement moves % deliveries', (SELECT count(*) FROM moved); END IF;
      IF EXISTS (SELECT FROM moved JOIN interruption USING (event_seq)) THEN RAISE 'interrupted'; END IF;
      RETURN NULL;
    END $$`;
  await sql`
    CREATE TRIGGER refuse AFTER UPDATE ON deliveries REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION refuse()`;
  const before = await rowsRead();

  for (const at of [900, 200]) {
    await sql`INSERT INTO interruption VALUES (${at})`;
    await assert.rejects(moveAll(), /interrupted/);
    assert.ok((await movesOf(later)).isMoving || (await movesOf(earlier)).isMoving);
    await sql`DELETE FROM interruption`;
  }
  const checked = await rowsRead();
  await moveAll();
  const read = (await rowsRead()) - checked;

  assert.deepEqual(await movesOf(later), { byMs: [60_000], shiftMs: 0, isMoving: false });
  assert.deepEqual(await movesOf(earlier), { byMs: [-60_000], shiftMs: 0, isMoving: false });
  assert.deepEqual(await movesOf(settled), { byMs: [0], shiftMs: 0, isMoving: false });
  // Each delivery is found, and found again to be updated.
  assert.ok(read < 5 * count, `${read} rows read`);
  assert.ok(before < checked);
});

test('when the clock is set back during a move, the move is completed first', async () => {
  const id = await addDestination(count, 60_000);
  await sql`DROP TABLE due_before`;
  await sql`CREATE TABLE due_before AS SELECT id, due_at AS before FROM deliveries`;
  await sql`INSERT INTO interruption VALUES (900)`;
  await assert.rejects(moveAll(), /interrupted/);
  assert.ok((await movesOf(id)).isMoving);
  await sql`UPDATE clock SET shift_ms = shift_ms - 60000`;
  await sql`DELETE FROM interruption`;
  await moveAll();
  assert.deepEqual(await movesOf(id), { byMs: [0], shiftMs: -60_000, isMoving: false });
});
