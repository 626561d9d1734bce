import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { engage, sendText } from '../../support/people/chat.ts';
import {
  openEngagements,
  OrderLedger,
  startLedgerReceiver,
  writeInOrder,
} from '../../support/receivers/ordered-load.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { call, until, type Json } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { startSteppedCluster, type WhoseClock } from '../../support/database/stepped-clocks.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';
import {
  enqueue,
  expectStatus,
  makeAccount,
  makeOperator,
  makeAvailableOperator,
  makeQueue,
  offersOf,
  setPresence,
  signIn,
  type ServerHandle,
  type TestAccount,
} from '../../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const hourSec = 3_600;
const daySec = 24 * hourSec;

/** The offsets of the clock, one after the other. Each is a step from the one before. */
const short: readonly ClockStep[] = [
  { whose: 'database', aheadSec: -hourSec },
  { whose: 'both', aheadSec: daySec },
];
const long: readonly ClockStep[] = (['database', 'process', 'both'] as const).flatMap((whose) =>
  [-hourSec, 0, hourSec, 0, -daySec, 0, daySec, 0].map((aheadSec) => ({ whose, aheadSec })),
);

interface ClockStep {
  readonly whose: WhoseClock;
  readonly aheadSec: number;
}

/** The timeouts of an offer, a lease and a retry, and how late they may be on a busy machine. */
const offerSec = 5;
const leaseSec = 6;
const lateSec = 15;

test(
  'offers, leases, retries and messages keep their times when clocks are stepped under load, and nothing is deleted',
  { timeout: isLong ? 1_200_000 : hangMs },
  async (t) => {
    await using cluster = await startSteppedCluster(2);
    const [node = assert.fail(), other = assert.fail()] = cluster.nodes;
    const server = cluster.reach(node);
    const kept = await makeRowsToKeep(server);
    const ledger = new OrderLedger();
    const receiver = await startLedgerReceiver(ledger);
    t.after(async () => receiver.close());
    const chats = [...(await openEngagements(server, 3)), ...(await openEngagements(cluster.reach(other), 3))];
    for (const own of new Set(chats.map((chat) => chat.own)))
      await makeWebhook(server, own, { url: receiver.url, events: ['engagement.chat.message'] });
    const places = isLong ? long : short;
    const seconds = places.length * (leaseSec + 4);
    const writing = writeInOrder(chats, { seconds, perSecond: 60, retry: true });
    // Awaited below. A failed probe is reported first.
    writing.catch(() => undefined);
    for (const place of places) {
      const probes = [probeOffer, probeWaiting, probeLease, probeRetry];
      const checks = await retryOn503(async () => {
        const ready = await Promise.all(probes.map(async (prepare) => prepare(server, t)));
        return Promise.all(ready.map(async (begin) => begin()));
      });
      cluster.set(place.whose, place.aheadSec);
      const steppedAt = performance.now();
      const took = await Promise.all(checks.map(async (check) => check()));
      await retryOn503(async () => assertRowsKept(server, kept));
      const where = `${place.whose} at ${place.aheadSec} s`;
      t.diagnostic(`${where}: ${took.join(', ')}; ${Math.round(performance.now() - steppedAt)} ms in all`);
    }
    const acknowledged = await writing;
    await until(() => ledger.missing(acknowledged).length === 0, 30_000);
    t.diagnostic(`${acknowledged.size} messages, ${ledger.repeated} delivered again`);
    assert.equal(ledger.displaced, 0);
    // A process that starts while the clocks are wrong continues with the stored state.
    for (const each of [node, other]) await each.stop('SIGKILL');
    const restarted = cluster.reach(await cluster.start());
    const begin = await probeWaiting(restarted);
    const check = await begin();
    await check();
    await assertRowsKept(restarted, kept);
  },
);

/**
 * A probe is prepared, started and checked. Clocks are stepped between start and check. Slow work belongs into the preparation,
 * before the time is measured.
 */
type Probe = () => Promise<() => Promise<string>>;

function between(what: string, tookMs: number, [minSec, maxSec]: readonly [minSec: number, maxSec: number]): string {
  assert.ok(tookMs > minSec * 1_000 && tookMs < maxSec * 1_000, `${what} after ${tookMs} ms`);
  return `${what} after ${Math.round(tookMs)} ms`;
}

/**
 * Retries while the answer is 503. PostgreSQL's timeouts use the wall clock, so a step may cancel a running statement. libfaketime
 * makes that more likely: a signal handler that interrupts a read of the clock sees the real time.
 */
async function retryOn503<T>(request: () => Promise<T>): Promise<T> {
  const answers: T[] = [];
  await until(async () => {
    try {
      answers.push(await request());
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('got 503'))) throw error;
    }
    return answers.length > 0;
  });
  return answers[0] as T;
}

async function setOfferTime(server: ServerHandle, { admin, siteId }: TestAccount): Promise<void> {
  const body = { reactive_call_timeout: offerSec };
  expectStatus(await call(server, `PATCH /sites/${siteId}`, { token: admin, body }), 200);
}

/** An unanswered offer times out after its timeout, measured by a clock that is not stepped. */
async function probeOffer(server: ServerHandle): Promise<Probe> {
  const own = await makeAccount(server);
  await setOfferTime(server, own);
  const queue = await makeQueue(server, own);
  const operator = await makeAvailableOperator(server, own);
  return async () => {
    const offeredAt = performance.now();
    await enqueue(server, own, queue);
    const [offer = assert.fail('nothing was offered')] = await offersOf(server, operator);
    return async () => {
      const offers = async () => retryOn503(async () => offersOf(server, operator));
      await until(async () => (await offers()).every(({ id }: Json) => id !== offer.id), 60_000);
      return between('offer timed out', performance.now() - offeredAt, [offerSec - 1, offerSec + lateSec]);
    };
  };
}

/** A waiting visitor keeps their waiting time, and is offered to the next available operator. */
async function probeWaiting(server: ServerHandle): Promise<Probe> {
  const own = await makeAccount(server);
  const queue = await makeQueue(server, own, { when_unstaffed: 'accept' });
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  return async () => {
    const enqueuedAt = performance.now();
    const { id, visitor } = await enqueue(server, own, queue);
    return async () => {
      const waitedSec = async (): Promise<number> => {
        const read = async () => call(server, `GET /queue_tickets/${id}`, { token: visitor.token });
        const ticket = await retryOn503(async () => expectStatus(await read(), 200).body);
        const [clock] = await server.database.sql<{ now: Date }[]>`SELECT clock_timestamp() AS now`;
        return ((clock?.now ?? assert.fail()).getTime() - Date.parse(ticket.created_at)) / 1_000;
      };
      // A step is detected within a second.
      await until(async () => Math.abs((await waitedSec()) - (performance.now() - enqueuedAt) / 1_000) < 2, 5_000);
      const cameAt = performance.now();
      await retryOn503(async () => setPresence(server, operator));
      await until(async () => (await retryOn503(async () => offersOf(server, operator))).length === 1, 60_000);
      return between('waiting visitor offered', performance.now() - cameAt, [0, lateSec]);
    };
  };
}

/** An operator with a presence lease stays available until it ends. */
async function probeLease(server: ServerHandle): Promise<Probe> {
  const own = await makeAccount(server);
  const operator = await makeOperator(server, own, [{ site_id: own.siteId, role: 'operator' }]);
  return async () => {
    const saidAt = performance.now();
    await setPresence(server, operator, { expires_in_sec: leaseSec });
    return async () => {
      const read = async () => call(server, `GET /operators/${operator.id}`, { token: own.admin });
      const isThere = async (): Promise<boolean> =>
        retryOn503(async () => expectStatus(await read(), 200).body.available);
      // Until the step is detected, reads use the new clock.
      await until(isThere, 2_000);
      await until(async () => !(await isThere()), 60_000);
      return between('lease ended', performance.now() - saidAt, [leaseSec - 1, leaseSec + lateSec]);
    };
  };
}

/** A failed delivery is retried about five seconds later. */
async function probeRetry(server: ServerHandle, t: TestContext): Promise<Probe> {
  const receiver = await startReceiver();
  t.after(async () => receiver.close());
  receiver.answer = () => (receiver.arrived.length === 1 ? 500 : 200);
  const chat = await engage(server);
  const hook = await makeWebhook(server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  return async () => {
    await sendText(chat, chat.visitor, 'once more');
    await until(async () => (await server.database.sql`
      SELECT 1 FROM deliveries WHERE webhook_id = ${hook.id} AND state = 'retrying'`).length === 1); // prettier-ignore
    const failedAt = performance.now();
    return async () => {
      await until(() => receiver.arrived.length === 2, 60_000);
      return between('delivery retried', performance.now() - failedAt, [0, 6 + lateSec]);
    };
  };
}

/** Rows that a sweep would delete if it trusted a wrong clock. */
interface RowsToKeep {
  readonly own: TestAccount;
  readonly revoked: string;
  readonly key: string;
  readonly team: Json;
  readonly counts: Readonly<Record<string, number>>;
}

async function makeRowsToKeep(server: ServerHandle): Promise<RowsToKeep> {
  const own = await makeAccount(server);
  const revoked = await signIn(server, own.key);
  expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token: revoked }), 204);
  const key = randomUUID();
  const team = expectStatus(await makeTeam(server, own, key), 201).body;
  const { sql } = server.database;
  // The oldest day within the retention.
  const day = sql`(now() AT TIME ZONE 'UTC')::date - 29`;
  for (const [log, time] of [
    ['events', 'occurred_at'],
    ['audit_log', 'at'],
    ['delivery_log', 'at'],
  ])
    // prettier-ignore
    await sql`SELECT make_day(${log ?? ''}, ${time ?? ''}, ${day})`;
  await sql`
    INSERT INTO events (account_id, id, type, occurred_at, payload)
    SELECT gen_random_uuid(), gen_random_uuid(), 'engagement.start', ${day}, '{}' FROM generate_series(1, 10)`;
  return { own, revoked, key, team, counts: await countAll(server) };
}

async function makeTeam(server: ServerHandle, own: TestAccount, key: string) {
  const body = { site_id: own.siteId, name: 'Kept' };
  return call(server, 'POST /teams', { token: own.admin, body, headers: { 'idempotency-key': key } });
}

async function countAll({ database: { sql } }: ServerHandle): Promise<Record<string, number>> {
  const [row = {}] = await sql<Record<string, number>[]>`
    SELECT (SELECT count(*)::integer FROM events) AS events,
           (SELECT count(*)::integer FROM events WHERE payload::text = '{}') AS "oldEvents",
           (SELECT count(*)::integer FROM audit_log) AS audit,
           (SELECT count(*)::integer FROM delivery_log) AS deliveries,
           (SELECT count(*)::integer FROM idempotency_keys) AS keys,
           (SELECT count(*)::integer FROM revoked_tokens) AS revoked`;
  return row;
}

async function assertRowsKept(server: ServerHandle, { own, revoked, key, team, counts }: RowsToKeep): Promise<void> {
  for (const [what, count] of Object.entries(await countAll(server)))
    assert.ok(count >= (counts[what] ?? 0), `${what}: ${counts[what]} were there, ${count} are left`);
  expectStatus(await call(server, 'GET /sites', { token: revoked }), 401);
  expectStatus(await call(server, 'GET /sites', { token: own.admin }), 200);
  const again = expectStatus(await makeTeam(server, own, key), 201);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.body.id, team.id);
}

test(
  'a start with a wrong clock deletes nothing, and leases and offers of that time do not freeze when the clock is right again',
  { timeout: hangMs },
  async (t) => {
    await using cluster = await startSteppedCluster(1);
    const first = cluster.nodes[0] ?? assert.fail();
    const kept = await makeRowsToKeep(cluster.reach(first));
    await first.stop('SIGKILL');
    for (const days of isLong ? [1, 40, 400] : [40]) {
      cluster.set('both', days * daySec);
      const node = await cluster.start();
      const receiver = await startReceiver();
      t.after(async () => receiver.close());
      const chat = await engage(cluster.reach(node));
      await setOfferTime(chat.server, chat.own);
      await makeWebhook(chat.server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
      await sendText(chat, chat.visitor, 'leased');
      await until(() => receiver.arrived.length === 1);
      // The start runs a sweep. The new partition shows that its last task is done.
      await until(async () => (await cluster.database.sql`
        SELECT 1 FROM pg_inherits WHERE inhparent = 'delivery_log'::regclass
           AND inhrelid::regclass::text = 'delivery_log_' || to_char(now() + interval '3 days', 'YYYYMMDD')`).length === 1); // prettier-ignore
      for (const [what, count] of Object.entries(await countAll(chat.server)))
        assert.ok(count >= (kept.counts[what] ?? 0), `${what}: ${kept.counts[what]} were there, ${count} are left`);
      // The token was valid for an hour, so it has expired, revoked or not.
      expectStatus(await call(chat.server, 'GET /sites', { token: kept.revoked }), 401);
      const queue = await makeQueue(chat.server, chat.own, { name: 'Other' });
      const operator = await makeAvailableOperator(chat.server, chat.own);
      const { id } = await enqueue(chat.server, chat.own, queue);
      await node.stop('SIGKILL');
      cluster.set('both', 0);
      const right = await cluster.start();
      const server = cluster.reach(right);
      const began = performance.now();
      const [offer = assert.fail('the offer is gone')] = await offersOf(server, operator);
      assert.equal(offer.queue_ticket_id ?? id, id);
      await sendText({ ...chat, server }, chat.visitor, 'leased again');
      await until(() => receiver.arrived.length === 2, 10_000);
      t.diagnostic(`after ${days} days: delivered ${Math.round(performance.now() - began)} ms after the start`);
      await until(async () => (await offersOf(server, operator)).length === 0, 40_000);
      expectStatus(await call(server, 'GET /sites', { token: kept.revoked }), 401);
      for (const [what, count] of Object.entries(await countAll(server)))
        assert.ok(count >= (kept.counts[what] ?? 0), `${what}: ${kept.counts[what]} were there, ${count} are left`);
      await right.stop('SIGKILL');
    }
  },
);
