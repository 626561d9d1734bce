import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { call, startTestServer, until, type Answer } from '../support/server.ts';
import { expectStatus, makeAccount, type TestAccount } from '../support/world.ts';

const server = await forThisFile(startTestServer());

const range = { start_date: '2026-01-01', end_date: '2026-02-01' };

const ask = async (own: TestAccount): Promise<Answer> =>
  call(server, 'POST /operators/stats/online_duration', { token: own.admin, body: range });

/** The process ids of statements that wait for the table. */
async function waiting(): Promise<number[]> {
  const rows = await server.database.sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%presence_intervals%'`;
  return rows.map(({ pid }) => pid);
}

/** Locks the table of presence intervals while `run` runs, so that no statistic about it can finish. */
async function whileLocked(run: () => Promise<void>): Promise<void> {
  const other = server.database.connect({ max: 1 });
  try {
    await other.begin(async (sql) => {
      await sql`LOCK TABLE presence_intervals IN ACCESS EXCLUSIVE MODE`;
      await run();
    });
  } finally {
    await other.end({ timeout: 1 });
  }
}

test('a statistic that takes too long is refused with 422 and advice', async () => {
  const own = await makeAccount(server);
  await whileLocked(async () => {
    const answer = ask(own);
    await until(async () => (await waiting()).length === 1);
    // A cancelled statement fails with the same code as one that exceeds statement_timeout.
    for (const pid of await waiting()) await server.database.sql`SELECT pg_cancel_backend(${pid})`;
    const { body } = expectStatus(await answer, 422);
    assert.equal(body.error, 'invalid_request');
    assert.match(body.detail, /takes too long\. Use a shorter range, longer steps or fewer dimensions\.$/);
  });
  expectStatus(await ask(own), 200);
});

test('slow statistics delay neither the live figure nor, without limit, other accounts, and the waiting list is bounded', async () => {
  const own = await makeAccount(server);
  const others = await Promise.all(Array.from({ length: 5 }, async () => makeAccount(server)));
  const answers: Promise<Answer>[] = [];
  await whileLocked(async () => {
    answers.push(ask(own), ask(own));
    await until(async () => (await waiting()).length === 2);
    const third = expectStatus(await ask(own), 429);
    assert.equal(third.body.error, 'rate_limited');
    assert.equal(third.headers.get('retry-after'), '5');
    const live = await call(server, 'POST /reporting/live/queue/average_wait_time', { token: own.admin });
    assert.deepEqual(expectStatus(live, 200).body, { total: 0 });
    // Eight of all accounts may wait; two more are refused.
    const more = others.flatMap((other) => [ask(other), ask(other)]);
    const refused: Answer[] = [];
    for (const each of more) void each.then((answer) => refused.push(answer));
    await until(() => refused.length >= 2);
    for (const answer of refused) {
      assert.equal(expectStatus(answer, 503).body.error, 'too_busy');
      assert.match(answer.body.detail, /Try again in a few seconds; a shorter range, longer steps/);
      assert.equal(answer.headers.get('retry-after'), '5');
    }
    answers.push(...more);
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 503, 503]);
});

test('a statistic that waits for more than five seconds is refused with 503, and running ones continue', async () => {
  const [own, other] = [await makeAccount(server), await makeAccount(server)];
  const answers: Promise<Answer>[] = [];
  await whileLocked(async () => {
    answers.push(ask(own), ask(own));
    await until(async () => (await waiting()).length === 2);
    const began = performance.now();
    assert.equal(expectStatus(await ask(other), 503).body.error, 'too_busy');
    const took = performance.now() - began;
    assert.ok(took > 4_500 && took < 10_000, `${took} ms`);
  });
  for (const each of answers) expectStatus(await each, 200);
  expectStatus(await ask(other), 200);
});
