import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { after, beforeEach, test } from 'node:test';
import { eventTypes } from '../../packages/server/src/events/catalogue.ts';
import { dropDays, eventLog, makeDays } from '../../packages/server/src/platform/database/daily-logs.ts';
import { startHousekeeping } from '../../packages/server/src/housekeeping.ts';
import { connect, isLockTimeout, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { startTestServer, until } from '../support/server.ts';

const address = await cloneDatabase();
const sql = connect(address, { max: 10 });
const otherProcess = connect(address, { max: 10 });
after(async () => {
  await Promise.all([sql.end(), otherProcess.end()]);
});

const [row] = await sql<{ day: string }[]>`SELECT (now() AT TIME ZONE 'UTC')::date::text AS day`;
const today = row?.day ?? '';
beforeEach(async () => sql`DELETE FROM events`);

const dayMs = 86_400_000;
// The database is a copy that may have been made before midnight, and then has a partition for yesterday.
await dropPartition(-1);

/** The day this many days from today, as YYYY-MM-DD. */
function day(from: number): string {
  return new Date(Date.parse(today) + from * dayMs).toISOString().slice(0, 10);
}

function partition(from: number): string {
  return `events_${day(from).replaceAll('-', '')}`;
}

async function keepEvents(client: Sql, days: number): Promise<void> {
  await makeDays(client, eventLog);
  await dropDays(client, eventLog, { now: new Date(), days });
}

/** A clock without steps. */
const rightClock: Parameters<typeof startHousekeeping>[0]['clock'] = {
  sweepTime: async () => ({ mayDelete: true, now: new Date(), steadyNow: new Date() }),
  onStep: () => undefined,
};

/** Writes an event; returns the partition that it was put into. */
async function write(at: string, payload = '{}', client: Sql = sql): Promise<string> {
  const [row] = await client<{ place: string }[]>`
    INSERT INTO events (account_id, id, type, occurred_at, payload)
    VALUES (${randomUUID()}, ${randomUUID()}, 'engagement.start', ${at}::text::timestamptz, ${payload}::text::json)
    RETURNING tableoid::regclass::text AS place`;
  return row?.place ?? '';
}

async function partitions(client: Sql = sql): Promise<string[]> {
  const rows = await client<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1`;
  return rows.map(({ name }) => name).filter((name) => name !== 'events_default');
}

/** Creates the partition. If a writer is in its way, the function gives up soon, and is called again as a sweep does. */
async function make(from: number, client: Sql = sql): Promise<void> {
  await until(async () => {
    try {
      await client`SELECT make_event_partition(${day(from)}::text::date)`;
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return false;
    }
  });
}

async function dropPartition(from: number): Promise<void> {
  await sql`DROP TABLE IF EXISTS ${sql(partition(from))}`;
}

test('the migration creates the partitions of the next days', async () => {
  const client = connect(await cloneDatabase(), { max: 1 });
  const [row] = await client<{ day: string }[]>`
    SELECT (applied_at AT TIME ZONE 'UTC')::date::text AS day FROM migrations WHERE file = '0003_events.sql'`;
  const found = await partitions(client);
  await client.end();
  const first = Date.parse(row?.day ?? '');
  assert.deepEqual(
    found,
    [0, 1, 2, 3].map(
      (days) => `events_${new Date(first + days * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`,
    ),
  );
});

test('an event is stored in the partition of its UTC day, with its payload unchanged', async () => {
  await keepEvents(sql, 30);
  for (const days of [0, 1, 2, 3]) {
    assert.equal(await write(`${day(days)}T00:00:00.000Z`), partition(days));
    assert.equal(await write(`${day(days)}T23:59:59.999Z`), partition(days));
  }
  assert.equal(await write(`${day(1)}T02:00:00.000+03:00`), partition(0));
  const payload = '{"z": 1,  "a": {"y": 2, "b": 3}}';
  await write(`${today}T12:00:00Z`, payload);
  const rows = await sql<{ seq: string }[]>`SELECT seq FROM events`;
  assert.equal(new Set(rows.map(({ seq }) => seq)).size, 10);
  const [last] = await sql<{ payload: string }[]>`SELECT payload::text FROM events ORDER BY seq DESC LIMIT 1`;
  assert.equal(last?.payload, payload);
});

test('partitions are UTC days whatever the time zone of the session is', async () => {
  await dropPartition(3);
  const faraway = connect(address, { max: 1, connection: { TimeZone: 'Pacific/Kiritimati' } });
  await keepEvents(faraway, 30);
  await faraway.end();
  assert.equal(await write(`${day(3)}T00:00:00.000Z`), partition(3));
  assert.equal(await write(`${day(3)}T23:59:59.999Z`), partition(3));
});

test('events of a day without a partition are stored, and move into the partition when it is created', async () => {
  await dropPartition(0);
  assert.equal(await write(`${today}T10:00:00Z`, '{"b":1,"a":2}'), 'events_default');
  assert.equal(await write(`${day(40)}T10:00:00Z`), 'events_default');
  const stored = async (): Promise<unknown> => sql`SELECT events.*, payload::text AS text FROM events ORDER BY seq`;
  const original = await stored();

  await keepEvents(sql, 30);
  const places = await sql<{ place: string }[]>`SELECT tableoid::regclass::text AS place FROM events ORDER BY seq`;
  assert.deepEqual(
    places.map(({ place }) => place),
    [partition(0), 'events_default'],
  );
  assert.deepEqual(await stored(), original);
  assert.equal(await write(`${today}T11:00:00Z`), partition(0));
  const [index] =
    await sql`SELECT 1 FROM pg_indexes WHERE tablename = ${partition(0)} AND indexdef LIKE '%(account_id, xid, seq)'`;
  assert.ok(index, 'the partition has the index of the log');
});

test('days older than the retention are dropped, from the default partition too', async () => {
  const retention = 30;
  for (const days of [-400, -32, -31, -30, -29]) {
    await make(days);
    await write(`${day(days)}T12:00:00Z`);
  }
  for (const time of [`${day(-33)}T12:00:00Z`, `${day(-28)}T12:00:00Z`])
    assert.equal(await write(time), 'events_default');

  await keepEvents(sql, retention);
  assert.deepEqual(await partitions(), [-30, -29, 0, 1, 2, 3].map(partition));
  const rows = await sql<{ at: Date }[]>`SELECT occurred_at AS at FROM events ORDER BY occurred_at`;
  assert.deepEqual(
    rows.map(({ at }) => at.toISOString().slice(0, 10)),
    [-30, -29, -28].map(day),
  );
  await keepEvents(sql, 1);
  assert.deepEqual(await partitions(), [0, 1, 2, 3].map(partition));
});

test('processes that create and drop partitions at the same time do not fail', async () => {
  for (const days of [0, 1, 2, 3]) await dropPartition(days);
  await make(-50);
  await write(`${today}T12:00:00Z`);
  const both = [sql, otherProcess].flatMap((client) => Array.from({ length: 8 }, async () => keepEvents(client, 30)));
  await Promise.all(both);
  assert.deepEqual(await partitions(), [0, 1, 2, 3].map(partition));
  const [row] = await sql`SELECT tableoid::regclass::text AS place FROM events`;
  assert.equal(row?.['place'], partition(0));
});

test('no write fails while its partition is created or old ones are dropped', async () => {
  for (const round of [60, 61, 62, 63, 64]) {
    const enough = new AbortController();
    let written = 0;
    const writers = Array.from({ length: 6 }, async () => {
      while (!enough.signal.aborted) {
        await write(`${day(round)}T12:00:00Z`, '{}', otherProcess);
        written += 1;
      }
    });
    await make(-round);
    await until(() => written > 20);
    await make(round);
    await dropDays(sql, eventLog, { now: new Date(), days: 31 });
    const before = written;
    await until(() => written > before + 20);
    enough.abort();
    await Promise.all(writers);
    const [row] = await sql`SELECT count(*)::integer AS count FROM ${sql(partition(round))}`;
    assert.equal(row?.['count'], written);
    await dropPartition(round);
  }
});

test('creating partitions gives up soon if a slow writer blocks it, and leaves nothing half done', async () => {
  await dropPartition(3);
  await otherProcess.begin(async (own) => {
    await write(`${day(3)}T12:00:00Z`, '{}', own);
    const error = await keepEvents(sql, 30).catch((thrown: unknown) => thrown);
    assert.ok(isLockTimeout(error), String(error));
  });
  assert.ok(!(await partitions()).includes(partition(3)));
  await keepEvents(sql, 30);
  assert.equal(await write(`${day(3)}T13:00:00Z`), partition(3));
});

test('during a backup, writers do not wait for sweeps, which finish their work afterwards', async () => {
  await make(-40);
  await write(`${day(-40)}T12:00:00Z`);
  await dropPartition(3);
  // A writer that waits for longer than this fails. A sweep waits for a lock for 100 ms.
  const patience = { connection: { lock_timeout: 500 } };
  const impatient = connect(address, { max: 4, ...patience });
  const enough = new AbortController();
  const failures: unknown[] = [];
  let written = 0;
  await otherProcess.begin(async (backup) => {
    // pg_dump and usher backup lock every table so, each partition too.
    await backup`LOCK TABLE events IN ACCESS SHARE MODE`;
    const writers = Array.from({ length: 4 }, async () => {
      while (!enough.signal.aborted) {
        await write(`${today}T12:00:00Z`, '{}', impatient).catch((error: unknown) => failures.push(error));
        written += 1;
      }
    });
    for (const sweep of [
      async () => dropDays(sql, eventLog, { now: new Date(), days: 30 }),
      async () => makeDays(sql, eventLog),
    ]) {
      const before = written;
      await assert.rejects(sweep(), (error) => isLockTimeout(error));
      await until(() => written > before);
    }
    enough.abort();
    await Promise.all(writers);
  });
  await impatient.end();
  assert.deepEqual(failures, []);
  assert.ok((await partitions()).includes(partition(-40)));
  await keepEvents(sql, 30);
  assert.deepEqual(await partitions(), [0, 1, 2, 3].map(partition));
});

test('housekeeping creates partitions at the start, and one failing sweep does not stop the others', async () => {
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  await dropPartition(2);
  await sql`
    INSERT INTO accounts (id, name) VALUES (${'00000000-0000-4000-8000-000000000001'}, 'Test')`;
  await sql`
    INSERT INTO revoked_tokens (id, account_id, expires_at)
    VALUES (${randomUUID()}, ${'00000000-0000-4000-8000-000000000001'}, now() - interval '25 hours')`;
  await sql`ALTER TABLE idempotency_keys RENAME TO lost`;
  await using server = await startTestServer({ eventRetentionDays: 7 }, address);
  const stop = startHousekeeping({ sweeps: server.sweeps, clock: rightClock, log: createLog('warn', sink) });
  await until(async () => (await sql`SELECT 1 FROM revoked_tokens`).length === 0);
  stop();
  assert.ok((await partitions()).includes(partition(2)));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? '', /housekeeping failed/);
  await sql`ALTER TABLE lost RENAME TO idempotency_keys`;
});

test('openapi.json has a webhook for every event type, with a named schema', () => {
  const api = JSON.parse(readFileSync('openapi.json', 'utf8'));
  assert.deepEqual(Object.keys(api.webhooks), eventTypes);
  for (const type of eventTypes) {
    const { $ref } = api.webhooks[type].post.requestBody.content['application/json'].schema;
    const schema = api.components.schemas[$ref.split('/').at(-1)];
    assert.equal(schema.properties.event_type.const, type);
    assert.equal(schema.additionalProperties, false);
  }
});
