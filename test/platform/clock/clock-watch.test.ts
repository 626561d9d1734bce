import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ClockWatch } from '../../../packages/server/src/platform/clock/clock-watch.ts';
import { connect, type DatabaseAddress, type Sql } from '../../../packages/server/src/platform/database/database.ts';
import { DatabaseSession } from '../../../packages/server/src/platform/database/database-session.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { until } from '../../support/server.ts';

const hourMs = 3_600_000;

interface Watched {
  readonly watch: ClockWatch;
  readonly logged: string[];
  /** Steps the clock for this watch only. Others see the real clock of the database. */
  readonly step: (byMs: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A watch with its own database clock: a function that shadows PostgreSQL's clock can be stepped for this watch only. */
async function startWatch(address: DatabaseAddress): Promise<Watched> {
  const sql = connect(address, { max: 1, connection: { search_path: 'stepped, pg_catalog, public' } });
  await sql.unsafe(`
    CREATE SCHEMA IF NOT EXISTS stepped;
    CREATE OR REPLACE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
      SELECT pg_catalog.clock_timestamp()
             + coalesce(nullif(current_setting('stepped.by_ms', true), ''), '0')::float8 * interval '1 millisecond'
    $$`);
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  const watch = await ClockWatch.start(sql, createLog('info', sink));
  return {
    watch,
    logged,
    step: async (byMs) => void (await sql`SELECT set_config('stepped.by_ms', ${String(byMs)}, false)`),
    stop: async () => {
      watch.stop();
      await sql.end({ timeout: 1 });
    },
  };
}

async function shiftMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ shift: number }[]>`SELECT shift_ms::float8 AS shift FROM clock`;
  return row?.shift ?? Number.NaN;
}

const isAbout = (value: number, expected: number): boolean => Math.abs(value - expected) < 1_000;

test('several processes that see the same step record it once, and so when the clock is set back', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const all = [await startWatch(address), await startWatch(address), await startWatch(address)];
  t.after(async () => Promise.all(all.map(async (each) => each.stop())));
  let steps = 0;
  all[1]?.watch.onStep(() => (steps += 1));
  for (const byMs of [-hourMs, 24 * hourMs, 0]) {
    await Promise.all(all.map(async (each) => each.step(byMs)));
    await Promise.all(all.map(async ({ watch }) => watch.readAgain()));
    assert.ok(isAbout(await shiftMs(sql), byMs), `${await shiftMs(sql)}`);
    for (const { watch } of all) {
      await until(() => isAbout(watch.databaseNow() - Date.now(), byMs));
      assert.ok(isAbout(watch.steadyNow(), Date.now()), 'steady time goes on');
      assert.ok(watch.isInDoubt);
    }
  }
  assert.equal(steps, 3);
  assert.equal(all.flatMap(({ logged }) => logged.filter((line) => line.includes('was set'))).length, 3);
});

test('the false step of a suspended process is reverted by another process, and the first accepts that', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const [sleeper, awake] = [await startWatch(address), await startWatch(address)];
  t.after(async () => Promise.all([sleeper.stop(), awake.stop()]));
  // A process whose monotonic clock stood still for ten minutes sees a step of the database's clock.
  await sleeper.step(10 * 60_000);
  await until(() => sleeper.logged.some((line) => line.includes('was suspended')));
  await until(async () => isAbout(await shiftMs(sql), 0));
  for (let look = 0; look < 6; look += 1) {
    await pause(300);
    assert.ok(isAbout(await shiftMs(sql), 0), 'they do not go on contradicting each other');
  }
});

test('a step that comes again is a step, though another process has set the clock back in between', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 1 });
  t.after(async () => sql.end());
  const [one, other] = [await startWatch(address), await startWatch(address)];
  t.after(async () => Promise.all([one.stop(), other.stop()]));
  // From now on they read the clock only when the test says so.
  for (const { watch } of [one, other]) watch.stop();
  const began = { at: performance.now(), steady: one.watch.steadyNow() };
  const setAhead = async (byMs: number, readers: readonly Watched[]): Promise<void> => {
    for (const { step } of readers) await step(byMs);
    for (const { watch } of readers) await watch.readAgain();
  };
  await setAhead(hourMs, [one, other]);
  await setAhead(0, [other, one]);
  await setAhead(hourMs, [one, other]);
  assert.ok(isAbout(await shiftMs(sql), hourMs));
  for (const { watch, logged } of [one, other]) {
    assert.ok(isAbout(watch.steadyNow() - began.steady, performance.now() - began.at));
    assert.deepEqual(
      logged.filter((line) => line.includes('was suspended')),
      [],
    );
  }
});

test('nothing is deleted after a step, after a long gap or while clocks differ; deletions resume a day later', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const start = async (): Promise<Watched> => {
    const watched = await startWatch(address);
    t.after(async () => watched.stop());
    return watched;
  };
  // The column rounds to milliseconds, so the rounded `now()` may be in the future.
  const isOver = async () => sql`UPDATE clock SET doubt_until = now() - interval '1 second'`;
  assert.ok((await (await start()).watch.sweepTime()).mayDelete, 'a new installation');

  await sql`UPDATE clock SET seen_at = now() - interval '11 hours'`;
  assert.ok((await (await start()).watch.sweepTime()).mayDelete, 'off for a night');

  await sql`UPDATE clock SET seen_at = now() - interval '40 days'`;
  const { watch, step } = await start();
  assert.ok(!(await watch.sweepTime()).mayDelete, 'off for 40 days, or a wrong clock');
  await isOver();
  const time = await watch.sweepTime();
  assert.ok(time.mayDelete && isAbout(time.now.getTime(), Date.now()));

  await step(hourMs);
  const apart = await watch.sweepTime();
  assert.ok(!apart.mayDelete && /differ by more than a minute/.test(apart.why));
  await step(0);
  const stepped = await watch.sweepTime();
  assert.ok(!stepped.mayDelete && /resume at/.test(stepped.why));
  await isOver();
  assert.ok((await watch.sweepTime()).mayDelete);
});

test('a start detects that the clock was set back while no process ran', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  await sql`UPDATE clock SET seen_at = now() + interval '1 hour'`;
  const { watch, logged, stop } = await startWatch(address);
  t.after(stop);
  assert.ok(isAbout(await shiftMs(sql), -hourMs));
  assert.ok(isAbout(watch.steadyNow(), Date.now() + hourMs), 'steady time goes on where it was');
  assert.ok(watch.isInDoubt);
  assert.match(logged.join(''), /3[56]\d\d\.\d s behind the time it showed when Usher last ran/);
});

async function outageMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ outage: number }[]>`SELECT outage_ms::float8 AS outage FROM clock`;
  return row?.outage ?? Number.NaN;
}

/** As if no process had reached the database for this time. */
async function pretendOutage(sql: Sql, sec: number): Promise<void> {
  await sql`UPDATE clock SET seen_at = clock_timestamp() - ${sec} * interval '1 second'`;
}

test('several processes that wake after an outage record it once', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const all = [await startWatch(address), await startWatch(address), await startWatch(address)];
  t.after(async () => Promise.all(all.map(async (each) => each.stop())));
  const before = await outageMs(sql);
  await pretendOutage(sql, 300);
  await Promise.all(all.map(async ({ watch }) => watch.readAgain()));
  await Promise.all(all.map(async ({ watch }) => watch.readAgain()));
  assert.ok(isAbout(await outageMs(sql), before + 300_000), `${(await outageMs(sql)) - before}`);
  assert.equal(await shiftMs(sql), 0);
});

test('a start records the outage before it; after more than an hour nothing is prolonged', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const before = await outageMs(sql);
  let expected = before;
  for (const [sec, counted] of [
    [300, 300],
    [3_700, 0],
    [40 * 86_400, 0],
    [75, 75],
  ] as const) {
    await pretendOutage(sql, sec);
    const { stop } = await startWatch(address);
    expected += counted * 1_000;
    assert.ok(isAbout(await outageMs(sql), expected), `after ${sec} s: ${(await outageMs(sql)) - before}`);
    await stop();
  }
});

test('a step of the clock during an outage is not counted as a part of the outage', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const { watch, step, stop } = await startWatch(address);
  t.after(stop);
  let expected = await outageMs(sql);
  for (const byMs of [60_000, -hourMs]) {
    // The clock of this watch is ahead by the steps before.
    await pretendOutage(sql, 24 - (await shiftMs(sql)) / 1_000);
    await step(byMs);
    await watch.readAgain();
    await watch.readAgain();
    expected += 24_000;
    assert.ok(isAbout(await shiftMs(sql), byMs), `shift ${await shiftMs(sql)}`);
    assert.ok(isAbout(await outageMs(sql), expected), `outage ${await outageMs(sql)}, expected ${expected}`);
  }
});

test('a process that is cut off from the database causes no outage while another one reaches it', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 2 });
  t.after(async () => sql.end());
  const [cutOff, other] = [await startWatch(address), await startWatch(address)];
  t.after(other.stop);
  const before = await outageMs(sql);
  await cutOff.stop();
  await pause(6_000);
  const back = await startWatch(address);
  t.after(back.stop);
  assert.equal(await outageMs(sql), before);
});

test('a lost session is replaced by a new one, reported when it is open, and is not alive in between', async (t) => {
  const address = await cloneDatabase();
  const sql = connect(address, { max: 1 });
  t.after(async () => sql.end());
  const session = await DatabaseSession.open(address);
  t.after(async () => session.close());
  const first = session.number;
  assert.ok(session.isAlive());
  const opened: number[] = [];
  session.onOpened(() => opened.push(session.number));
  await sql`
    SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objid = ${first}
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await until(() => !session.isAlive());
  await until(() => session.isAlive());
  assert.notEqual(session.number, first);
  assert.deepEqual(opened, [session.number]);
});
