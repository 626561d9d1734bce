import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '../support/processes/cluster.ts';
import { startDurableCluster } from '../support/database/durable-cluster.ts';
import { ReturningClient } from '../support/returning-client.ts';
import { call, until } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import { startSteppedCluster } from '../support/database/stepped-clocks.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestOperator,
} from '../support/world.ts';

/** D5.15: outages of the database and of all processes, with clients that reconnect every second. */

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const longOutagesSec = [5, 15, 24, 35, 75, 300];
/** The lease that a feed renews, and the grace period after it: what does not go on by then has ended. */
const leaseAndGraceMs = 60_000;
/** The lease of the visitor who leaves during the outage. */
const leaverLeaseSec = 10;

/** A conversation, a ticket and an offer of one account, whose people are all connected. */
interface Scene {
  readonly clients: readonly ReturningClient[];
  readonly invited: TestOperator;
  readonly engagementId: string;
  readonly waitingId: string;
  /** The ticket of a visitor who leaves during the outage. */
  readonly leaverId: string;
  /** An operator with a long lease that nobody renews, so that outages alone move it. */
  readonly unconnectedId: string;
  readonly leaseBefore: Lease;
}

/** The end of a lease and all recorded outages, in epoch milliseconds. */
interface Lease {
  readonly until: number;
  readonly outageMs: number;
}

async function readLease({ database }: Pick<Cluster, 'database'>, operatorId: string): Promise<Lease> {
  const [row = assert.fail()] = await database.sql<Lease[]>`
    SELECT extract(epoch FROM presence_expires_at)::float8 * 1000 AS until,
           (SELECT outage_ms::float8 FROM clock) AS "outageMs"
      FROM operators WHERE id = ${operatorId}`;
  return row;
}

/** The processes that clients can reach at the moment. */
type Reachable = () => ServerHandle | null;

async function openScene(t: TestContext, cluster: Cluster, reachable: Reachable): Promise<Scene> {
  const server = reachable() ?? assert.fail('no process is running');
  const own = await makeAccount(server);
  const clients: ReturningClient[] = [];
  t.after(async () => Promise.all(clients.map(async (client) => client.stop())));
  const connect = (who: { readonly token: string }): void => void clients.push(new ReturningClient(reachable, who));
  const queue = await makeQueue(server, own);
  const engaged = await makeAvailableOperator(server, own, { expires_in_sec: 30 });
  connect(engaged);
  const talking = await enqueue(server, own, queue);
  connect(talking.visitor);
  const engagementId = await acceptOffer(server, engaged);
  const unconnected = await makeAvailableOperator(server, own, { available: false, expires_in_sec: 3_600 });
  const invited = await makeAvailableOperator(server, own, { expires_in_sec: 30 });
  connect(invited);
  connect((await enqueue(server, own, queue)).visitor);
  const waiting = await enqueue(server, own, queue);
  connect(waiting.visitor);
  await until(() => clients.every(({ feeds }) => feeds > 0));
  const leaver = await enqueue(server, own, queue);
  const presence = { token: leaver.visitor.token, body: { expires_in_sec: leaverLeaseSec } };
  expectStatus(await call(server, `PUT /visitors/${leaver.visitor.id}/presence`, presence), 200);
  return {
    clients,
    invited,
    engagementId,
    waitingId: waiting.id,
    leaverId: leaver.id,
    unconnectedId: unconnected.id,
    leaseBefore: await readLease(cluster, unconnected.id),
  };
}

/** The state of the conversation, of the ticket that waits, and of the ticket whose visitor left. */
async function readStates({ database }: Cluster, scene: Scene): Promise<readonly [string, string, string]> {
  const [row = assert.fail()] = await database.sql<{ engagement: string; waiting: string; leaver: string }[]>`
    SELECT (SELECT coalesce(end_reason, 'active') FROM engagements WHERE id = ${scene.engagementId}) AS engagement,
           (SELECT state FROM queue_tickets WHERE id = ${scene.waitingId}) AS waiting,
           (SELECT state FROM queue_tickets WHERE id = ${scene.leaverId}) AS leaver`;
  return [row.engagement, row.waiting, row.leaver];
}

/** Retries while the service is not back. */
async function whenBack<T>(attempt: () => Promise<T>): Promise<T> {
  const answers: T[] = [];
  await until(async () => {
    await attempt().then(
      (answer) => answers.push(answer),
      () => undefined,
    );
    return answers.length > 0;
  });
  return answers[0] as T;
}

/** After the outage: the people of the scene go on, except for the visitor who left. */
async function checkScene(cluster: Cluster, reachable: Reachable, scene: Scene): Promise<void> {
  // The offer is still there, so it can be accepted.
  const accepted = await whenBack(async () => acceptOffer(reachable() ?? assert.fail(), scene.invited));
  assert.ok(accepted);
  await until(async () => (await readStates(cluster, scene))[2] === 'visitor_left');
  assert.deepEqual(await readStates(cluster, scene), ['active', 'waiting', 'visitor_left']);
  const lease = await readLease(cluster, scene.unconnectedId);
  const outageMs = lease.outageMs - scene.leaseBefore.outageMs;
  assert.ok(Math.abs(lease.until - scene.leaseBefore.until - outageMs) < 10, 'each outage is excused exactly once');
}

interface OutageRun {
  readonly kind: 'database' | 'processes';
  readonly cluster: Cluster;
  readonly reachable: Reachable;
  /** Takes the service away for this time. */
  readonly interrupt: (sec: number) => Promise<void>;
  readonly outagesSec: readonly number[];
}

/** The scenes before stay open, so they go through all later outages as well. */
async function runOutages(
  t: TestContext,
  { kind, cluster, reachable, interrupt, outagesSec }: OutageRun,
): Promise<void> {
  const scenes: Scene[] = [];
  for (const sec of outagesSec) {
    const scene = await openScene(t, cluster, reachable);
    scenes.push(scene);
    await interrupt(sec);
    const backAt = performance.now();
    await checkScene(cluster, reachable, scene);
    const recordedSec = (await readLease(cluster, scene.unconnectedId)).outageMs - scene.leaseBefore.outageMs;
    t.diagnostic(
      `${kind}, ${sec} s: ${recordedSec} ms recorded, checked ${Math.round(performance.now() - backAt)} ms later`,
    );
  }
  if (isLong) await pause(leaseAndGraceMs + 5_000);
  const ended: string[] = [];
  for (const [index, scene] of scenes.entries()) {
    const [engagement, waiting] = await readStates(cluster, scene);
    if (engagement !== 'active' || waiting !== 'waiting')
      ended.push(`${outagesSec[index]} s: ${engagement}, ${waiting}`);
  }
  if (isLong)
    console.log(JSON.stringify({ outages_of: kind, sec: outagesSec, scenes: scenes.length, ended: ended.length }));
  assert.deepEqual(ended, []);
}

/** Clients are spread over the processes. */
function reach(cluster: Cluster): Reachable {
  let turn = 0;
  return () => {
    const running = cluster.nodes.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    turn += 1;
    const node = running[turn % Math.max(running.length, 1)];
    return node === undefined || !node.isReady ? null : cluster.reach(node);
  };
}

async function restartAll(cluster: Cluster, whileDown: () => Promise<void>): Promise<void> {
  const running = cluster.nodes.splice(0);
  await Promise.all(running.map(async (node) => node.stop('SIGKILL')));
  await whileDown();
  // Both wake at the same time, and one of them records the outage.
  await Promise.all([cluster.start(), cluster.start()]);
}

test(
  'after 75 s without a process, nothing ends that both sides still want, and who left is gone soon',
  { timeout: hangMs, skip: isLong },
  async (t) => {
    await using cluster = await startSteppedCluster(2);
    // While no process runs, a step of the clock looks like time that passes.
    const interrupt = async (sec: number): Promise<void> => restartAll(cluster, async () => cluster.set('both', sec));
    await runOutages(t, { kind: 'processes', cluster, reachable: reach(cluster), interrupt, outagesSec: [75] });
  },
);

test(
  'after outages of the database, nothing ends that both sides still want, and who left is gone soon',
  { timeout: isLong ? 1_800_000 : hangMs },
  async (t) => {
    await using cluster = await startDurableCluster({ nodes: 2 });
    const interrupt = async (sec: number): Promise<void> => cluster.crashDatabase(sec * 1_000);
    const outagesSec = isLong ? longOutagesSec : [32];
    await runOutages(t, { kind: 'database', cluster, reachable: reach(cluster), interrupt, outagesSec });
  },
);

test(
  'after outages of all processes, nothing ends that both sides still want, and who left is gone soon',
  { timeout: 1_800_000, skip: !isLong },
  async (t) => {
    await using cluster = await startDurableCluster({ nodes: 2 });
    const interrupt = async (sec: number): Promise<void> => restartAll(cluster, async () => pause(sec * 1_000));
    await runOutages(t, {
      kind: 'processes',
      cluster,
      reachable: reach(cluster),
      interrupt,
      outagesSec: longOutagesSec,
    });
  },
);
