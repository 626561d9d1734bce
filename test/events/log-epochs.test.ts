import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { connect, openDatabase, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { knownMigrations, migrate } from '../../packages/server/src/platform/database/migrations/migrations.ts';
import { cloneDatabase, emptyDatabase } from '../support/database/database.ts';

const account = randomUUID();

async function writeEvent(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO events (account_id, id, type, occurred_at, payload)
    VALUES (${account}, ${randomUUID()}, 'engagement.start', now(), '{}')`;
}

async function epochs(sql: Sql): Promise<number[]> {
  const rows = await sql<{ epoch: number }[]>`SELECT epoch FROM log_epochs ORDER BY epoch`;
  return rows.map(({ epoch }) => epoch);
}

/** Empties the unlogged table, as crash recovery and a failover do. */
async function loseEpochInForce(sql: Sql): Promise<void> {
  await sql`TRUNCATE log_epoch_begun`;
}

test('concurrent first writers after a crash begin one epoch, and their events come after all older ones', async () => {
  const sql = connect(await cloneDatabase(), { max: 10 });
  try {
    await writeEvent(sql);
    const before = await epochs(sql);
    await loseEpochInForce(sql);
    await Promise.all(Array.from({ length: 30 }, async () => writeEvent(sql)));
    const newEpochs = (await epochs(sql)).slice(before.length);
    assert.deepEqual(newEpochs, [Math.max(...before) + 1]);
    const rows = await sql<{ epoch: number; seq: number }[]>`
      SELECT (xid::text::bigint >> 43)::integer AS epoch, seq::integer AS seq FROM events ORDER BY xid, seq`;
    assert.deepEqual(
      rows.map(({ epoch }) => epoch),
      [...before.slice(-1), ...Array.from({ length: 30 }, () => newEpochs[0])],
    );
    assert.equal(rows[0]?.seq, Math.min(...rows.map(({ seq }) => seq)));
  } finally {
    await sql.end();
  }
});

test('if the writer that begins an epoch rolls back, the next writer begins it', async () => {
  const sql = connect(await cloneDatabase(), { max: 2 });
  try {
    const before = await epochs(sql);
    await loseEpochInForce(sql);
    const undone = sql.begin(async (own) => {
      await writeEvent(own);
      throw new Error('rolled back');
    });
    await assert.rejects(undone, /rolled back/);
    assert.deepEqual(await epochs(sql), before);
    await writeEvent(sql);
    assert.equal((await epochs(sql)).length, before.length + 1);
  } finally {
    await sql.end();
  }
});

test('an event is assigned its seq after its transaction has an id', async () => {
  const sql = connect(await cloneDatabase(), { max: 1 });
  try {
    const [row] = await sql<{ text: string }[]>`
      SELECT pg_get_expr(adbin, adrelid) AS text
        FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
       WHERE adrelid = 'events'::regclass AND attname = 'seq'`;
    assert.match(row?.text ?? '', /pg_current_xact_id\(\) IS NOT NULL.*nextval\('events_seq_seq'/s);
  } finally {
    await sql.end();
  }
});

/** The schema of the version before epochs, with the events that a restore from a dump leaves in the log. */
async function restoredBeforeEpochs(sql: Sql): Promise<void> {
  const migrations = await knownMigrations();
  const last = migrations.findIndex(({ file }) => file.includes('log_epochs'));
  await sql`CREATE TABLE migrations (number integer PRIMARY KEY, file text NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())`;
  for (const { number, file } of migrations.slice(0, last)) {
    await sql.unsafe(readFileSync(`packages/server/migrations/${file}`, 'utf8'));
    await sql`INSERT INTO migrations (number, file) VALUES (${number}, ${file})`;
  }
  await sql`INSERT INTO accounts (id, name) VALUES (${account}, 'Restored')`;
  for (const xid of ['900000001', '900000002', '900000003', null, null]) {
    const [event] = await sql<{ id: string; seq: string; xid: string; at: Date }[]>`
      INSERT INTO events (account_id, id, type, occurred_at, payload, xid)
      VALUES (${account}, ${randomUUID()}, 'engagement.start', now(), '{}',
              coalesce(${xid}::text::xid8, pg_current_xact_id()))
      RETURNING id, seq, xid::text AS xid, occurred_at AS at`;
    assert.ok(event);
    await sql`
      INSERT INTO deliveries (account_id, webhook_id, destination_id, event_id, event_seq, event_xid, occurred_at, event_type, state)
      VALUES (${account}, ${randomUUID()}, ${randomUUID()}, ${event.id}, ${event.seq}, ${event.xid}::text::xid8, ${event.at},
              'engagement.start', 'pending')`;
  }
}

test('the migration to epochs puts events written after an earlier restore behind the older ones', async () => {
  const address = await emptyDatabase();
  const database = openDatabase(address, 2);
  const { sql } = database;
  try {
    await restoredBeforeEpochs(sql);
    await migrate(database);
    await writeEvent(sql);
    const rows = await sql<{ seq: number; epoch: number; delivered: boolean }[]>`
      SELECT e.seq::integer AS seq, (e.xid::text::bigint >> 43)::integer AS epoch,
             EXISTS (SELECT 1 FROM deliveries d WHERE d.event_seq = e.seq AND d.event_xid = e.xid) AS delivered
        FROM events e ORDER BY e.xid, e.seq`;
    assert.deepEqual(
      rows.map(({ seq, epoch, delivered }) => [seq, epoch, delivered]),
      [
        [1, 0, true],
        [2, 0, true],
        [3, 0, true],
        [4, 1, true],
        [5, 1, true],
        [6, 1, false],
      ],
    );
  } finally {
    await database.close();
  }
});
