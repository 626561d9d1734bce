import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import {
  sendOutboundSms,
  newNumber,
  newSid,
  startCarrier,
  type AcceptedSms,
  type TestCarrier,
} from '../support/services/carrier.ts';
import { startCluster, type Cluster } from '../support/processes/cluster.ts';
import type { UsherProcess } from '../support/processes/process.ts';
import { call, startTestServer, until, type Json, type TestServer } from '../support/server.ts';
import { startFaultProxy, type Fault } from '../support/database/fault-proxy.ts';
import { hangMs } from '../support/slowness.ts';
import { expectStatus, makeAccount, type ServerHandle, type TestAccount } from '../support/world.ts';

/** Misbehaving carriers, processes that die, and processes that share the work. */

interface SmsTestSetup {
  readonly carrier: TestCarrier;
  readonly server: TestServer;
  readonly own: TestAccount;
  send(given?: Json): Promise<Json>;
  now(id: string): Promise<Json>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function open(): Promise<SmsTestSetup> {
  const carrier = await startCarrier();
  const server = await startTestServer({ twilio: carrier.settings });
  const own = await makeAccount(server);
  return {
    carrier,
    server,
    own,
    send: async (given = {}) => expectStatus(await sendOutboundSms(server, own, { token: own.admin }, given), 201).body,
    now: async (id) => (await call(server, `GET /engagement_requests/${id}`, { token: own.admin })).body,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await carrier[Symbol.asyncDispose]();
    },
  };
}

/** Makes retries due now; with `dead`, expires the leases of a dead process. */
async function makeDue(sql: Sql, whose: 'waiting' | 'dead' = 'waiting'): Promise<void> {
  await sql`
    WITH due AS (UPDATE sms_messages SET due_at = now()
                  WHERE due_at > now() AND (${whose} = 'dead' OR state IN ('queued', 'prepared')) RETURNING 1)
    SELECT pg_notify('usher_changes', 'sms:') FROM due`;
}

function smsOf(carrier: TestCarrier, id: string): AcceptedSms[] {
  return carrier.acceptedSms.filter(({ statusCallback }) => statusCallback.endsWith(id));
}

test('an SMS is retried while the carrier is busy, failing or disconnecting, and is sent once', async () => {
  await using setup = await open();
  const { carrier, server } = setup;
  carrier.nextBehaviours.push(
    { status: 429, headers: { 'retry-after': '2' }, body: { code: 20429, message: 'Too Many Requests', status: 429 } },
    { status: 500, body: 'not even JSON' },
    'reset',
    { status: 503 },
  );
  const { id } = await setup.send();
  await until(async () => {
    await makeDue(server.database.sql);
    return smsOf(carrier, id).length > 0;
  });
  assert.equal(carrier.requestCount, 5);
  await until(async () => {
    const [row] = await server.database.sql`SELECT state FROM sms_messages WHERE id = ${id}`;
    return row?.['state'] === 'sent';
  });
  assert.equal((await setup.now(id)).state, 'pending');
});

test('retry delays grow, vary, and respect Retry-After', async () => {
  await using setup = await open();
  const { carrier, server } = setup;
  carrier.nextBehaviours.push({ status: 503 }, { status: 429, headers: { 'retry-after': '90' } });
  const { id } = await setup.send();
  const pauseOf = async (attempts: number): Promise<number> => {
    let pause = 0;
    await until(async () => {
      const [row] = await server.database.sql<{ pause: number }[]>`
        SELECT extract(epoch FROM due_at - updated_at)::float8 AS pause FROM sms_messages
         WHERE id = ${id} AND attempts = ${attempts} AND state = 'queued'`;
      pause = row?.pause ?? 0;
      return row !== undefined;
    });
    return pause;
  };
  const first = await pauseOf(1);
  assert.ok(first >= 0.79 && first <= 1.21, String(first));
  await makeDue(server.database.sql);
  assert.ok(Math.abs((await pauseOf(2)) - 90) < 0.01);
});

test('a refusal of the carrier fails the request at once, ten failed attempts fail it too', async () => {
  await using setup = await open();
  const { carrier, server, own } = setup;
  carrier.nextBehaviours.push({
    status: 400,
    body: { code: 21610, message: 'Attempt to send to unsubscribed recipient' },
  });
  const refused = await setup.send();
  await until(async () => (await setup.now(refused.id)).state === 'failed');
  const { fail_reason, fail_message } = await setup.now(refused.id);
  assert.deepEqual(
    [fail_reason, fail_message],
    ['error', 'The carrier reported 21610: Attempt to send to unsubscribed recipient'],
  );
  assert.equal(carrier.requestCount, 1);

  carrier.nextBehaviours.push(...Array.from({ length: 10 }, () => 'reset' as const));
  const { id } = await setup.send();
  await until(async () => {
    await makeDue(server.database.sql);
    return (await setup.now(id)).state === 'failed';
  });
  assert.match((await setup.now(id)).fail_message, /^Could not reach the carrier \([\w]+\)\.$/);
  assert.equal(carrier.requestCount, 11);
  const events = await server.database.sql`
    SELECT 1 FROM events WHERE type = 'engagement.request.failure'
       AND account_id = (SELECT account_id FROM operators WHERE id = ${own.adminId})`;
  assert.equal(events.length, 2);
});

test('a hanging carrier delays no other SMS and times out; a redirect is not followed', async () => {
  await using setup = await open();
  const { carrier } = setup;
  carrier.nextBehaviours.push('hang');
  const slow = await setup.send();
  await until(() => carrier.hanging() === 1);
  const quick = await setup.send();
  await until(() => smsOf(carrier, quick.id).length === 1);
  assert.equal(smsOf(carrier, slow.id).length, 0);
  // The attempt times out after ten seconds and is retried.
  await until(() => smsOf(carrier, slow.id).length === 1);

  carrier.nextBehaviours.push({ status: 307, headers: { location: 'http://127.0.0.1:9/' } });
  const moved = await setup.send();
  await until(async () => (await setup.now(moved.id)).state === 'failed');
  assert.equal((await setup.now(moved.id)).fail_message, 'The carrier reported: status 307');
});

test('an SMS is not sent again if its answer was lost but a receipt arrives', async () => {
  await using setup = await open();
  const { carrier, server } = setup;
  const before = carrier.requestCount;
  carrier.nextBehaviours.push('take and reset');
  const { id } = await setup.send();
  await until(() => carrier.requestCount > before);
  const [sms] = smsOf(carrier, id);
  assert.ok(sms);
  assert.equal((await carrier.report(server, sms, 'delivered')).status, 204);
  await makeDue(server.database.sql);
  const next = await setup.send();
  await until(() => smsOf(carrier, next.id).length === 1);
  assert.equal(smsOf(carrier, id).length, 1);
  const [delivered] = await server.database.sql`
    SELECT count(*)::integer AS events FROM events WHERE type = 'engagement.request.deliver' AND request_id = ${id}`;
  assert.equal(delivered?.['events'], 1);
});

test('an answer with a repeated id, or without one, counts as success', async () => {
  await using setup = await open();
  const { carrier, server } = setup;
  const states = async (): Promise<string[]> =>
    (await server.database.sql<{ state: string }[]>`SELECT state FROM sms_messages ORDER BY seq`).map(
      ({ state }) => state,
    );
  for (const body of [{ sid: 'SM1' }, { sid: 'SM1' }, { sid: 7 }, 'nothing', { sid: '\0' }]) {
    carrier.nextBehaviours.push({ status: 201, body });
    await setup.send();
  }
  await until(async () => (await states()).every((state) => state === 'sent'));
  assert.equal(carrier.requestCount, 5);
});

async function clusterOf(carrier: TestCarrier, count: number): Promise<Cluster> {
  return startCluster(count, carrier.environment);
}

test(
  'two processes share one outbox: each SMS is sent once, and each reply is stored once',
  { timeout: hangMs },
  async () => {
    await using carrier = await startCarrier();
    await using cluster = await clusterOf(carrier, 2);
    const [one, two] = cluster.nodes.map((node) => cluster.reach(node)) as [ServerHandle, ServerHandle];
    const own = await makeAccount(one);
    const from_number = newNumber();
    const asked = await Promise.all(
      Array.from({ length: 30 }, async (_, index) =>
        sendOutboundSms(index % 2 === 0 ? one : two, own, { token: own.admin }, { from_number }),
      ),
    );
    const ids: string[] = asked.map((answer) => expectStatus(answer, 201).body.id);
    await until(() => ids.every((id) => smsOf(carrier, id).length > 0));
    await Promise.all(
      ids
        .flatMap((id) => smsOf(carrier, id))
        .flatMap((sms, index) => {
          const sid = `SMreply${index}`;
          return [one, two].map(async (node) => carrier.reply(node, sms, 'Hi', { MessageSid: sid }));
        }),
    );
    const { sql } = cluster.database;
    await until(async () => (await sql`SELECT 1 FROM chat_messages`).length === 30);
    assert.equal((await sql`SELECT 1 FROM engagements`).length, 30);
    assert.equal((await sql`SELECT 1 FROM sms_messages WHERE due_at IS NOT NULL`).length, 0);
    assert.equal(carrier.acceptedSms.length, 30);
  },
);

/** Makes retries due until the condition holds. */
async function untilWithRetries(sql: Sql, condition: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => {
    if (await condition()) return true;
    await makeDue(sql);
    return false;
  });
}

/**
 * A process is killed at each of these steps of a turn, and another process continues. A turn has two steps, the lock with BEGIN and the write
 * with COMMIT, and one or two more if the connection has to prepare a statement.
 */
const cuts: readonly Pick<Fault, 'step' | 'when'>[] = [1, 2, 'commit' as const].flatMap((step) =>
  (['before', 'after'] as const).map((when) => ({ step, when })),
);

interface Killing {
  readonly carrier: TestCarrier;
  readonly own: TestAccount;
  readonly sql: Sql;
  readonly victim: ServerHandle;
  /** Arms the fault. The next turn is the one that the test is about: turns that earlier changes made due have ended. */
  readonly strike: () => Promise<void>;
  /** Waits until the process was killed, and starts another one, which takes over its work. */
  readonly next: () => Promise<ServerHandle>;
}

/** Runs once per cut. `run` returns whether the turn was committed; it must be committed at some cuts and not at others. */
async function killAtEachStep(t: TestContext, run: (killing: Killing) => Promise<boolean>): Promise<void> {
  await using carrier = await startCarrier();
  await using cluster = await clusterOf(carrier, 0);
  const { sql } = cluster.database;
  const wire = await startFaultProxy(cluster.database.address);
  try {
    let node = await cluster.start(wire.url);
    const written = new Set<boolean>();
    for (const { step, when } of cuts) {
      await t.test(`${when} step ${step}`, async () => {
        const own = await makeAccount(cluster.reach(node));
        let struck = Promise.resolve();
        const strike = async (): Promise<void> => {
          await until(async () => (await sql`SELECT 1 FROM accounts WHERE next_due_at <= now()`).length === 0);
          struck = wire.injectFault({ step, when, act: () => node.child.kill('SIGKILL') });
        };
        const next = async (): Promise<ServerHandle> => {
          await struck;
          await node.ended();
          await makeDue(sql, 'dead');
          node = await cluster.start(wire.url);
          return cluster.reach(node);
        };
        written.add(await run({ carrier, own, sql, victim: cluster.reach(node), strike, next }));
      });
    }
    assert.deepEqual(written, new Set([false, true]));
  } finally {
    wire.close();
  }
}

const many = { timeout: hangMs };

test('after a kill at any step of the request, the SMS is sent if and only if the request exists', many, async (t) => {
  await killAtEachStep(t, async ({ carrier, own, sql, victim, strike, next }) => {
    const admin = { token: own.admin };
    const requests = async () => (await sql`SELECT 1 FROM engagement_requests WHERE site_id = ${own.siteId}`).length;
    const due = async () => (await sql`SELECT 1 FROM sms_messages WHERE due_at IS NOT NULL`).length;
    // The first turn of a process has more steps than later ones.
    expectStatus(await sendOutboundSms(victim, own, admin, { headers: { 'idempotency-key': 'first' } }), 201);
    await until(async () => (await due()) === 0);
    await strike();
    const to_number = newNumber();
    const given = { from_number: newNumber(), to_number, headers: { 'idempotency-key': 'killed' } };
    const asked = await sendOutboundSms(victim, own, admin, given).catch(() => null);
    const survivor = await next();
    const made = (await requests()) - 1;
    await sql`UPDATE sms_messages SET created_at = created_at - interval '6 minutes' WHERE state = 'prepared'`;
    await untilWithRetries(sql, async () => (await due()) === 0);
    const sent = () => carrier.acceptedSms.filter(({ to }) => to === to_number).length;
    assert.deepEqual([asked, sent()], [null, made]);
    assert.equal((await sql`SELECT 1 FROM sms_threads WHERE to_number = ${to_number}`).length, made);

    // The client repeats the request with its key.
    expectStatus(await sendOutboundSms(survivor, own, admin, given), 201);
    await until(async () => (await due()) === 0);
    assert.deepEqual([sent(), await requests()], [1, 2]);
    return made === 1;
  });
});

test('after a kill at any step of a reply, another process finishes it once', many, async (t) => {
  await killAtEachStep(t, async ({ carrier, own, sql, victim, strike, next }) => {
    const { id } = expectStatus(await sendOutboundSms(victim, own, { token: own.admin }), 201).body;
    await until(() => smsOf(carrier, id).length === 1);
    const [sms] = smsOf(carrier, id);
    assert.ok(sms);
    const sid = newSid();
    const begun = async () => (await sql`SELECT 1 FROM engagements WHERE request_id = ${id}`).length;
    await strike();
    await carrier.reply(victim, sms, 'Hi', { MessageSid: sid }).catch(() => null);
    const survivor = await next();
    const wasBegun = (await begun()) === 1;
    await carrier.reply(survivor, sms, 'Hi', { MessageSid: sid });
    const eventTypes = async () =>
      (await sql<{ type: string }[]>`SELECT type FROM events WHERE request_id = ${id} ORDER BY seq`).map(
        ({ type }) => type,
      );
    await untilWithRetries(sql, async () => (await eventTypes()).length === 2);
    assert.deepEqual(await eventTypes(), ['engagement.start', 'engagement.chat.message']);
    assert.equal(await begun(), 1);
    return wasBegun;
  });
});

test('after a kill during the request to the carrier, another process sends the SMS again', many, async () => {
  await using carrier = await startCarrier();
  await using cluster = await clusterOf(carrier, 1);
  const [victim] = cluster.nodes as [UsherProcess];
  const own = await makeAccount(cluster.reach(victim));
  carrier.nextBehaviours.push('hang');
  const { id } = expectStatus(await sendOutboundSms(cluster.reach(victim), own, { token: own.admin }), 201).body;
  await until(() => carrier.hanging() === 1);
  await victim.stop('SIGKILL');
  await makeDue(cluster.database.sql, 'dead');
  await cluster.start();
  await until(() => smsOf(carrier, id).length === 1);
});
