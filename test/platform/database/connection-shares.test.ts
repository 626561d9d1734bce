import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openWorld } from '../../support/fixture.ts';
import { isProof } from '../../support/proof.ts';
import { typical } from '../../support/quantiles.ts';
import { scrape } from '../../support/processes/metrics.ts';
import { call, until, type Answer } from '../../support/server.ts';
import { expectStatus, makeAccount, makeApplicationToken, type TestAccount } from '../../support/world.ts';

const { server, account: locked } = await openWorld();
const other = await makeAccount(server);
const secret = await makeApplicationToken(server, locked, 'secret');

/** Half of the ten connections for requests. */
const share = 5;
/** A request that waits for a connection in vain is refused after ten seconds. */
const promptMs = 5_000;

async function createTeam(
  { admin, siteId }: TestAccount,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return call(server, 'POST /teams', { token: admin, body: { name: randomUUID(), site_id: siteId }, headers });
}

/** Changes that wait for the lock, in a transaction of their own and in that of an Idempotency-Key. */
function createTeams(count: number): Promise<Answer>[] {
  return Array.from({ length: count }, async (_, index) =>
    createTeam(locked, index % 2 === 0 ? {} : { 'idempotency-key': randomUUID() }),
  );
}

/** Statements outside of transactions, which do not wait for the lock. */
async function createVisitor(): Promise<Answer> {
  return call(server, 'POST /visitors', { token: secret.header, body: { site_id: locked.siteId } });
}

/** Runs `run` while another session holds the locks of the account and its site, and this many statements wait for it. */
async function whileLocked(waiting: () => Promise<Answer>[], run: () => Promise<void>): Promise<Answer[]> {
  const locker = server.database.connect({ max: 1, connection: { idle_in_transaction_session_timeout: 0 } });
  const answers: Promise<Answer>[] = [];
  try {
    await locker.begin(async (own) => {
      await own`SELECT FROM accounts WHERE id = (SELECT account_id FROM sites WHERE id = ${locked.siteId}) FOR UPDATE`;
      await own`SELECT FROM sites WHERE id = ${locked.siteId} FOR UPDATE`;
      answers.push(...waiting());
      await until(async () => (await lockWaits()) >= share);
      await run();
    });
    return await Promise.all(answers);
  } finally {
    await locker.end();
  }
}

/** Statements of this database that wait for a lock. */
async function lockWaits(): Promise<number> {
  const [row] = await server.database.pulse.sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}

const waitingChanges = async (): Promise<number | undefined> =>
  (await scrape(server)).get('usher_account_changes_waiting');

test('changes that wait for the lock of one account leave connections for other accounts', async () => {
  const visitors: Promise<Answer>[] = [];
  const answers = await whileLocked(
    () => createTeams(14),
    async () => {
      // The share is used up, so these wait as well.
      visitors.push(...Array.from({ length: 6 }, createVisitor));
      await until(async () => (await waitingChanges()) === 20 - share);
      for (let round = 0; round < 20; round += 1) {
        const began = performance.now();
        expectStatus(await call(server, 'GET /teams', { token: other.admin }), 200);
        expectStatus(await call(server, 'GET /teams', { token: locked.admin }), 200);
        expectStatus(await createTeam(other), 201);
        expectStatus(await createTeam(other, { 'idempotency-key': randomUUID() }), 201);
        assert.ok(performance.now() - began < promptMs, `round ${round}`);
      }
      assert.equal(await lockWaits(), share);
    },
  );
  for (const answer of answers) expectStatus(answer, 201);
  for (const answer of await Promise.all(visitors)) expectStatus(answer, 200);
  assert.equal(await waitingChanges(), 0);
});

test('a change that waits too long for others of its account is refused, and says when to try again', async () => {
  const before = (await scrape(server)).get('usher_account_changes_refused_total') ?? 0;
  const answers = await whileLocked(
    () => createTeams(share + 2),
    async () => until(async () => (await scrape(server)).get('usher_account_changes_refused_total') === before + 2),
  );
  const refused = answers.filter(({ status }) => status >= 300);
  assert.equal(refused.length, 2);
  for (const { status, body, headers } of refused)
    assert.deepEqual([status, body.error, headers.get('retry-after')], [503, 'too_busy', '2']);
  expectStatus(await createTeam(locked), 201);
});

/** Alternating rounds. Connections that the waiting changes open are slow once, which 99 of 100 requests do not notice. */
const [rounds, requestsPerRound] = [isProof ? 15 : 5, 200];
/** A busy machine needs room for noise. */
const mostSlower = 2;

/** Milliseconds that the reads and changes of an uninvolved account take. */
async function measureBystander(): Promise<number[]> {
  const tookMs: number[] = [];
  while (tookMs.length < requestsPerRound) {
    const began = performance.now();
    const isChange = tookMs.length % 2 === 0;
    const answer = isChange ? createTeam(other) : call(server, 'GET /teams', { token: other.admin });
    expectStatus(await answer, isChange ? 201 : 200);
    tookMs.push(performance.now() - began);
  }
  return tookMs;
}

test('changes that wait for the lock of one account do not slow down another account', async () => {
  const took = { calm: [] as number[][], attacked: [] as number[][] };
  await measureBystander();
  for (let round = 0; round < rounds; round += 1) {
    took.calm.push(await measureBystander());
    await whileLocked(
      () => createTeams(20),
      async () => {
        took.attacked.push(await measureBystander());
      },
    );
  }
  for (const part of [0.5, 0.99]) {
    const [before, after] = [typical(took.calm, part), typical(took.attacked, part)];
    const shown = `p${part * 100} ${before.toFixed(1)} ms alone, ${after.toFixed(1)} ms beside 20 waiting changes`;
    if (isProof) console.log(shown);
    assert.ok(after / before <= mostSlower, shown);
  }
});
