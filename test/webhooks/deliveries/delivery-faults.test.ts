import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, test, type TestContext } from 'node:test';
import type { DestinationId } from '../../../packages/server/src/events/subscriptions/destination.ts';
import type { AccountId } from '../../../packages/server/src/platform/ids.ts';
import { leaseOf, renewLeases, type Claimant } from '../../../packages/server/src/webhooks/dispatcher/leases/leases.ts';
import { writeOutcomes, type Outcome } from '../../../packages/server/src/webhooks/dispatcher/outcomes/outcomes.ts';
import { readDeliveries } from '../../../packages/server/src/webhooks/dispatcher/store.ts';
import { engage, sendText, type Engaged } from '../../support/people/chat.ts';
import { startCluster, type Cluster } from '../../support/processes/cluster.ts';
import { startFaultProxy } from '../../support/database/fault-proxy.ts';
import {
  openEngagements,
  OrderLedger,
  startLedgerReceiver,
  writeInOrder,
} from '../../support/receivers/ordered-load.ts';
import type { UsherProcess } from '../../support/processes/process.ts';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.ts';
import { startTestServer, until, type Json } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { leaseElsewhere, insertWaiting, makeWebhook } from '../../support/receivers/webhooks.ts';
import { makeAccount } from '../../support/world.ts';

let receivers: Receiver[] = [];
afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  receivers = [];
});

async function receive(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

const environment = { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

interface DeliveringProcess {
  readonly cluster: Cluster;
  readonly node: UsherProcess;
  readonly chat: Engaged;
  readonly hook: Json;
  readonly receiver: Receiver;
}

/** Starts an engagement whose messages a process delivers to a webhook. */
async function startDelivering(cluster: Cluster): Promise<DeliveringProcess> {
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error('the cluster has no process');
  const receiver = await receive();
  const chat = await engage(cluster.reach(node));
  const hook = await makeWebhook(chat.server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  await sendText(chat, chat.visitor, 'first');
  await until(() => receiver.arrived.length === 1);
  await until(async () => (await statesInLog(cluster, hook)).length === 1);
  return { cluster, node, chat, hook, receiver };
}

async function statesInLog({ database: { sql } }: Cluster, hook: Json): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`SELECT state FROM delivery_log WHERE webhook_id = ${hook.id} ORDER BY at`;
  return rows.map(({ state }) => state);
}

const contentsAt = ({ arrived }: Receiver): string[] => arrived.map(({ event }) => String(event.message.content));

/** Seconds after which others take over the destinations of a killed process. Without the sessions it would be 15 s. */
const takeOverLimitSec = 8;

test(
  'when the owner of a destination is killed under load, another process takes over in seconds, in order and without a loss',
  { timeout: hangMs },
  async (t) => {
    await using cluster = await startCluster(2, environment);
    const load = await startLoad(cluster, t);
    const writing = writeInOrder(load.chats, { seconds: 6, perSecond: 100 });
    await until(() => load.ledger.arrived > 50);
    await load.owner.stop('SIGKILL');
    const before = load.ledger.arrived;
    const killedAt = performance.now();
    await until(() => load.ledger.arrived > before + 20);
    const tookMs = performance.now() - killedAt;
    t.diagnostic(`taken over after ${Math.round(tookMs)} ms`);
    assert.ok(tookMs < takeOverLimitSec * 1_000, `${tookMs} ms`);
    const acknowledged = await writing;
    await until(() => load.ledger.missing(acknowledged).length === 0);
    assert.equal(load.ledger.displaced, 0);
  },
);

test(
  'processes that lose their sessions under load stop sending until their leases are renewed, and nothing is lost or out of order',
  { timeout: hangMs },
  async (t) => {
    await using cluster = await startCluster(2, environment);
    const load = await startLoad(cluster, t);
    const { sql } = cluster.database;
    const ownerSession = async (): Promise<number | null> => {
      const [row] = await sql<{ session: number | null }[]>`SELECT owner_session AS session FROM destinations`;
      return row?.session ?? null;
    };
    const writing = writeInOrder(load.chats, { seconds: 6, perSecond: 100 });
    for (let round = 0; round < 4; round += 1) {
      const arrived = load.ledger.arrived;
      const session = await ownerSession();
      await sql`
        SELECT pg_terminate_backend(pid) FROM pg_locks l
         WHERE locktype = 'advisory' AND objid = ${session} AND ${ofThisDatabase(sql)}`;
      await until(async () => (await ownerSession()) !== session);
      await until(() => load.ledger.arrived > arrived + 20);
    }
    const acknowledged = await writing;
    await until(() => load.ledger.missing(acknowledged).length === 0);
    assert.equal(load.ledger.displaced, 0);
    t.diagnostic(`${acknowledged.size} messages, ${load.ledger.repeated} delivered again`);
  },
);

/** Selects locks of this database: test files share a server, and every database numbers its sessions from 1. */
function ofThisDatabase(sql: Cluster['database']['sql']) {
  return sql`l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
}

/** Engagements whose webhooks one process sends, while another process takes the messages. */
async function startLoad(cluster: Cluster, t: TestContext) {
  const ledger = new OrderLedger();
  const receiver = await startLedgerReceiver(ledger);
  t.after(async () => receiver.close());
  const [node = assert.fail()] = cluster.nodes;
  const opened = await openEngagements(cluster.reach(node), 4);
  const [chat = assert.fail()] = opened;
  await makeWebhook(chat.server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
  await sendText(chat, chat.visitor, 'first 0');
  await until(() => ledger.arrived === 1);
  const [row] = await cluster.database.sql<{ name: string }[]>`
    SELECT a.application_name AS name
      FROM destinations d
      JOIN pg_locks l ON l.locktype = 'advisory' AND l.objid = d.owner_session AND ${ofThisDatabase(cluster.database.sql)}
      JOIN pg_stat_activity a ON a.pid = l.pid`;
  const owner =
    cluster.nodes.find(({ child }) => row?.name.startsWith(`usher ${child.pid}@`) === true) ?? assert.fail(row?.name);
  const other = cluster.nodes.find((each) => each !== owner) ?? assert.fail();
  const chats = opened.map((each) => ({ ...each, server: cluster.reach(other) }));
  return { ledger, owner, chats };
}

test(
  'when the owner stops gracefully, another process takes over at once, and nothing is sent twice',
  { timeout: hangMs },
  async () => {
    await using cluster = await startCluster(1, environment);
    const { chat, hook, node, receiver } = await startDelivering(cluster);
    const other = await cluster.start();
    // The stopping process finishes the delivery in flight.
    receiver.answer = () => (_, response) => void setTimeout(() => response.end(), 1_000);
    await sendText(chat, chat.visitor, 'second');
    await until(() => receiver.arrived.length === 2);
    assert.equal(await node.stop('SIGTERM'), 0);
    receiver.answer = () => 200;
    const stoppedAt = Date.now();
    await sendText({ ...chat, server: cluster.reach(other) }, chat.visitor, 'third');
    await until(() => receiver.arrived.length === 3);
    assert.ok((receiver.arrived[2]?.at ?? Number.POSITIVE_INFINITY) - stoppedAt < 4_000);
    assert.deepEqual(contentsAt(receiver), ['first', 'second', 'third']);
    await until(async () => (await statesInLog(cluster, hook)).length === 3);
    assert.deepEqual(await statesInLog(cluster, hook), ['delivered', 'delivered', 'delivered']);
  },
);

test('a process that was frozen past its lease writes no outcomes when it resumes', { timeout: hangMs }, async () => {
  await using cluster = await startCluster(1, environment);
  const { chat, hook, node, receiver } = await startDelivering(cluster);
  const other = await cluster.start();
  const answers: (() => void)[] = [];
  receiver.answer = () => (_, response) => void answers.push(() => response.writeHead(500).end());
  await sendText(chat, chat.visitor, 'second');
  await until(() => receiver.arrived.length === 2);
  node.child.kill('SIGSTOP');
  receiver.answer = () => 200;
  const elsewhere = { ...chat, server: cluster.reach(other) };
  await sendText(elsewhere, chat.visitor, 'third');
  await until(() => receiver.arrived.length === 4, 25_000);
  await until(async () => (await statesInLog(cluster, hook)).length === 3);
  // The frozen process gets a failure and would schedule a retry.
  for (const answer of answers) answer();
  node.child.kill('SIGCONT');
  await sendText(elsewhere, chat.visitor, 'fourth');
  await until(() => receiver.arrived.length === 5);
  await until(async () => (await statesInLog(cluster, hook)).length === 4);
  await until(async () => (await fetch(`${node.url}/readyz`)).ok);
  // The resumed process knows that it lost the destination, so the other process sends its messages.
  await sendText(chat, chat.visitor, 'fifth');
  await until(() => receiver.arrived.length === 6);
  await until(async () => (await statesInLog(cluster, hook)).length === 5);
  assert.deepEqual(contentsAt(receiver), ['first', 'second', 'second', 'third', 'fourth', 'fifth']);
  assert.deepEqual(new Set(await statesInLog(cluster, hook)), new Set(['delivered']));
});

test('an outcome whose commit was not answered counts once', { timeout: hangMs }, async () => {
  await using cluster = await startCluster(0, environment);
  const wire = await startFaultProxy(cluster.database.address);
  try {
    const node = await cluster.start(wire.url);
    const receiver = await receive();
    receiver.answer = () => 500;
    const chat = await engage(cluster.reach(node));
    const hook = await makeWebhook(chat.server, chat.own, { url: receiver.url, events: ['engagement.chat.message'] });
    const lost = wire.loseResponse('INSERT INTO delivery_log');
    await sendText(chat, chat.visitor, 'first');
    await lost;
    const { sql } = cluster.database;
    const attemptsOf = async () => sql`SELECT attempts, parked FROM deliveries WHERE webhook_id = ${hook.id}`;
    assert.deepEqual([...(await attemptsOf())], [{ attempts: 1, parked: false }]);
    // The retry is sent only after the outcome was written again.
    await until(() => receiver.arrived.length === 2);
    await until(async () => (await statesInLog(cluster, hook)).length >= 2);
    assert.deepEqual([...(await attemptsOf())], [{ attempts: 2, parked: false }]);
    assert.deepEqual(await statesInLog(cluster, hook), ['retrying', 'retrying']);
  } finally {
    wire.close();
  }
});

test('outcomes that are written twice change nothing the second time, whatever they are', async () => {
  await using server = await startTestServer();
  await leaseElsewhere(server);
  const hook = await makeWebhook(server, await makeAccount(server));
  await insertWaiting(server, hook.id, [{}, {}, { attempts: 2, state: 'retrying', dueAt: new Date(0) }, {}]);
  const { sql } = server.database;
  const [lease = assert.fail()] = await sql<{ id: DestinationId; epoch: number; owner: string }[]>`
    UPDATE destinations SET epoch = epoch + 1 RETURNING id, epoch::float8 AS epoch, owner`;
  const { deliveries } = await readDeliveries(sql, [{ id: lease.id, after: 0, fresh: 10, due: 10, excluded: [] }]);
  assert.equal(deliveries.length, 4);
  const states = ['delivered', 'retrying', 'retrying', 'held'] as const;
  const outcomes = deliveries
    .toSorted((one, other) => one.seq - other.seq)
    .map((delivery, index): Outcome => {
      const state = states[index] ?? assert.fail();
      const attempt = { verdict: 'failed', unavailable: false, status: 500, answer: null, error: null, durationMs: 1, retryAfterMs: null } as const; // prettier-ignore
      const parked = delivery.attempts === 2;
      const delayMs = state === 'retrying' ? 5_000 : null;
      return { delivery, epoch: lease.epoch, at: new Date(), state, delayMs, parked, attempt, note: null };
    });
  const readState = async () => [
    [...(await sql`SELECT state, attempts, parked, due_at FROM deliveries ORDER BY event_seq`)],
    [...(await sql`SELECT delivery_id, state, final FROM delivery_log ORDER BY event_seq`)],
  ];
  await writeOutcomes(sql, lease.owner, outcomes);
  const first = await readState();
  assert.deepEqual(
    first[0]?.map(({ state, attempts, parked }) => [state, attempts, parked]),
    [
      ['retrying', 1, false],
      ['retrying', 3, true],
      ['held', 0, false],
    ],
  );
  assert.equal(first[1]?.length, 4);
  assert.deepEqual(await writeOutcomes(sql, lease.owner, outcomes), new Set([lease.id]));
  assert.deepEqual(await readState(), first);
});

/** A claimant without a session: only the clock decides whether its leases are valid. */
function claimant(owner: string): Claimant {
  return { owner, session: null, gone: [], expectedNow: Date.now() };
}

test('a process whose lease has passed to another can neither write outcomes nor renew the lease', async () => {
  await using server = await startTestServer();
  await leaseElsewhere(server);
  const own = await makeAccount(server);
  const hook = await makeWebhook(server, own);
  await insertWaiting(server, hook.id, [{}, {}]);
  const sql = server.database.sql;
  const accounts = (await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM webhooks WHERE id = ${hook.id}`).map(
    ({ id }) => id,
  );
  const [late, now] = [randomUUID(), randomUUID()];
  const expire = async () => sql`UPDATE destinations SET leased_until = now() - interval '1 second'`;
  await expire();
  const [first = assert.fail()] = await leaseOf(sql, claimant(late), accounts, 10);
  assert.equal((await leaseOf(sql, claimant(now), accounts, 10)).length, 0);
  const queries = [{ id: first.id, after: 0, fresh: 10, due: 10, excluded: [] }];
  const { deliveries } = await readDeliveries(sql, queries);
  assert.equal(deliveries.length, 2);
  await expire();
  const [second = assert.fail()] = await leaseOf(sql, claimant(now), accounts, 10);
  assert.deepEqual([second.id, second.epoch], [first.id, first.epoch + 1]);

  const outcomes = (epoch: number): Outcome[] =>
    deliveries.map((delivery, index) => ({
      delivery,
      epoch,
      at: new Date(),
      state: index === 0 ? 'delivered' : 'retrying',
      delayMs: index === 0 ? null : 5_000,
      parked: false,
      attempt: null,
      note: null,
    }));
  const readState = async () => [
    await sql`SELECT id, state, attempts FROM deliveries ORDER BY id`,
    await sql`SELECT owner, epoch, leased_until FROM destinations`,
    await sql`SELECT * FROM delivery_log`,
  ];
  const before = await readState();
  assert.deepEqual(await writeOutcomes(sql, late, outcomes(first.epoch)), new Set());
  // Neither owner nor epoch alone is enough.
  assert.deepEqual(await writeOutcomes(sql, late, outcomes(second.epoch)), new Set());
  assert.deepEqual(await writeOutcomes(sql, now, outcomes(first.epoch)), new Set());
  assert.deepEqual(await renewLeases(sql, { owner: late, session: null }, [first]), new Set());
  assert.deepEqual(await readState(), before);
  assert.deepEqual(await writeOutcomes(sql, now, outcomes(second.epoch)), new Set<DestinationId>([second.id]));
  assert.deepEqual(
    (await sql<{ state: string }[]>`SELECT state FROM deliveries`).map((row) => row.state),
    ['retrying'],
  );
});

test('renewing leases and writing outcomes concurrently does not deadlock', async () => {
  await using server = await startTestServer();
  const { sql } = server.database;
  const { siteId } = await makeAccount(server);
  const owner = randomUUID();
  const leases = await sql<{ id: DestinationId; epoch: number }[]>`
    INSERT INTO destinations (id, account_id, origin, owner, epoch, leased_until)
    SELECT gen_random_uuid(), s.account_id, 'https://' || n || '.example', ${owner}, 1, 'infinity'
      FROM sites s, generate_series(1, 400) AS n
     WHERE s.id = ${siteId}
    RETURNING id, epoch::float8 AS epoch`;
  const outcomes = leases.map(({ id, epoch }) => ({
    delivery: { id: randomUUID(), destinationId: id },
    epoch,
    at: new Date(),
    state: 'delivered',
    delayMs: null,
    parked: false,
    attempt: null,
    note: null,
  })) as unknown as Outcome[];
  for (let round = 0; round < 40; round += 1) {
    const [written, renewed] = await Promise.all([
      writeOutcomes(sql, owner, outcomes),
      renewLeases(sql, { owner, session: null }, leases.toReversed()),
    ]);
    assert.deepEqual([written.size, renewed.size], [400, 400]);
  }
});
