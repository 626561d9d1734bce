import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase, type Database } from '../../../packages/server/src/platform/database/database.ts';
import type { EmbeddedPostgres } from '../../../packages/server/src/platform/embedded/embedded-postgres.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { urlOf } from '../../support/processes/cluster.ts';
import { engage, type Engaged } from '../../support/people/chat.ts';
import { startEmbeddedCluster } from '../../support/database/embedded-cluster.ts';
import { isAccepted, MisbehavingReceiver, type ReceivedEvent } from '../../support/receivers/misbehaving-receiver.ts';
import { launch, temporaryDirectory, type UsherProcess } from '../../support/processes/process.ts';
import { call, until } from '../../support/server.ts';
import { hangMs } from '../../support/slowness.ts';
import { makeWebhook } from '../../support/receivers/webhooks.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
const messages = isLong ? 10_000 : 1_000;
const engagements = isLong ? 40 : 12;
const kills = isLong ? 20 : 4;
const restarts = isLong ? 4 : 1;
const killEveryMs = 3_000;

/** Per thousand requests. A hanging request takes 15 s, so only few hang. */
const rates = { drip: 5, cut: 20, refuse: 40, busy: 20, reset: 20, hang: 1, close: 20, endless: 5 };

interface World {
  postgres: EmbeddedPostgres;
  readonly dataDir: string;
  readonly database: Database;
  readonly nodes: UsherProcess[];
  readonly start: () => Promise<UsherProcess>;
  /** The times at which a process was killed, or the database stopped or started. */
  readonly faults: number[];
}

test(
  `${2 * messages} events are delivered exactly, despite failing receivers, killed processes and restarts of the database`,
  { timeout: isLong ? 1_800_000 : hangMs },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'usher-ledger-'));
    const scratch = temporaryDirectory();
    const postgres = await startEmbeddedCluster(dataDir);
    const database = openDatabase(postgres.address, 4);
    await migrate(database, ensureSigningKey);
    const environment = {
      DATABASE_URL: urlOf(postgres.address),
      USHER_RATE_LIMIT_PER_TOKEN: '1000000000',
      USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      USHER_LOG_LEVEL: 'error',
    };
    const start = async () => launch({ dataDir: scratch.path, environment }).ready();
    const world: World = { postgres, dataDir, database, nodes: [], start, faults: [] };
    const receivers = [await MisbehavingReceiver.start(rates), await MisbehavingReceiver.start(rates)];
    try {
      for (let count = 0; count < 3; count += 1) world.nodes.push(await start());
      const chats = await openChats(world, receivers);
      const isOver = new AbortController();
      const makingDue = keepMakingDue(world, isOver.signal);
      const [acknowledged] = await Promise.all([writeMessages(world, chats), injectFaults(world)]);
      await untilAllAccepted(receivers, acknowledged);
      await until(async () => (await waiting(world)) === 0, 120_000);
      isOver.abort();
      await makingDue;
      await audit(world, receivers, acknowledged);
    } finally {
      for (const node of world.nodes) await node.stop('SIGKILL');
      for (const receiver of receivers) receiver.close();
      await database.close(1_000);
      await world.postgres.stop();
      scratch.remove();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
);

/** Starts engagements, each in its own account with a webhook to both receivers. */
async function openChats(world: World, receivers: readonly MisbehavingReceiver[]): Promise<Engaged[]> {
  const chats: Engaged[] = [];
  while (chats.length < engagements) {
    const chat = await engage({ url: anyNode(world).url, database: world.database });
    const events = ['engagement.chat.message'];
    for (const { url } of receivers) await makeWebhook(chat.server, chat.own, { url, events });
    chats.push(chat);
  }
  return chats;
}

function anyNode({ nodes }: World): UsherProcess {
  const alive = nodes.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  const node = alive[Math.floor(Math.random() * alive.length)];
  if (node === undefined) throw new Error('no process is running');
  return node;
}

/** Sends messages until each is acknowledged, despite killed processes. Returns the contents. */
async function writeMessages(world: World, chats: readonly Engaged[]): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  let next = 0;
  await Promise.all(
    chats.map(async (chat, index) => {
      for (let number = 0; next < messages; number += 1) {
        next += 1;
        const content = `${index} ${number}`;
        await sendUntilAcknowledged(world, chat, content);
        acknowledged.add(content);
        // Spread the messages over the time of the faults.
        await pause(Math.random() * 2 * ((kills * killEveryMs * engagements) / messages));
      }
    }),
  );
  return acknowledged;
}

async function sendUntilAcknowledged(world: World, { id, visitor }: Engaged, content: string): Promise<void> {
  const path = `PUT /engagements/${id}/chat_messages/${randomUUID()}`;
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      const answer = await call(anyNode(world), path, { token: visitor.token, body: { content } });
      if (answer.status === 200) return;
      assert.ok(answer.status >= 500, `${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    await pause(100);
  }
  throw new Error('the message was not acknowledged');
}

async function injectFaults(world: World): Promise<void> {
  for (let round = 1; round <= kills; round += 1) {
    await pause(killEveryMs);
    const victim = anyNode(world);
    world.faults.push(Date.now());
    await victim.stop('SIGKILL');
    world.nodes.splice(world.nodes.indexOf(victim), 1);
    if (round % Math.ceil(kills / restarts) === 0) {
      world.faults.push(Date.now());
      await world.postgres.stop();
      world.postgres = await startEmbeddedCluster(world.dataDir);
      world.faults.push(Date.now());
    }
    world.nodes.push(await world.start());
  }
}

/** Makes delayed deliveries due at once, because the test cannot wait for hours. */
async function keepMakingDue({ database: { sql } }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sql`UPDATE deliveries SET due_at = now() WHERE due_at > now()`.catch(() => undefined);
    await pause(300);
  }
}

async function waiting({ database: { sql } }: World): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM deliveries`;
  return row?.count ?? -1;
}

async function untilAllAccepted(receivers: readonly MisbehavingReceiver[], acknowledged: ReadonlySet<string>) {
  const hasAcceptedAll = ({ received }: MisbehavingReceiver): boolean => {
    const accepted = new Set(received.filter(isAccepted).map(({ content }) => content));
    return [...acknowledged].every((content) => accepted.has(content));
  };
  await until(() => receivers.every(hasAcceptedAll), 300_000);
}

async function audit(world: World, receivers: readonly MisbehavingReceiver[], acknowledged: ReadonlySet<string>) {
  const failures = await failuresOf(world);
  let duplicates = 0;
  let overtaken = 0;
  for (const { received } of receivers) {
    const contents = new Set(received.map(({ content }) => content));
    assert.deepEqual(
      [...contents].filter((content) => !acknowledged.has(content)),
      [],
      'an event that was never sent was delivered',
    );
    for (const [eventId, times] of Map.groupBy(received.filter(isAccepted), (each) => each.eventId)) {
      for (const [index, again] of times.slice(1).entries()) {
        duplicates += 1;
        assert.ok(isExplained(world.faults, times[index], again), `${eventId} was delivered twice for no reason`);
      }
    }
    for (const each of Map.groupBy(received, ({ engagementId }) => engagementId).values())
      overtaken += checkOrder(each, failures);
  }
  const counts = receivers.map(({ counts: each, received }) => ({
    requests: received.length,
    ...Object.fromEntries(each),
  }));
  console.log(
    JSON.stringify({
      messages: acknowledged.size,
      deliveries: receivers.length * acknowledged.size,
      duplicates,
      overtaken,
      kills,
      restarts,
      receivers: counts,
    }),
  );
  assert.equal(acknowledged.size, messages);
  const [log] = await world.database.sql<{ delivered: number; all: number }[]>`
    SELECT count(*) FILTER (WHERE state = 'delivered')::integer AS delivered, count(DISTINCT delivery_id)::integer AS all
      FROM delivery_log WHERE final`;
  assert.deepEqual({ ...log }, { delivered: 2 * messages, all: 2 * messages });
}

/** Whether a duplicate has a reason: a process or the database failed before the first delivery was recorded. */
function isExplained(faults: readonly number[], before: ReceivedEvent | undefined, again: ReceivedEvent): boolean {
  return before !== undefined && faults.some((at) => at >= before.at - 1_000 && at <= again.at);
}

/** The number of failed attempts of each event, at the receiver where it failed more often. */
async function failuresOf({ database: { sql } }: World): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; failed: number }[]>`
    SELECT event_id AS id, max(failed)::integer AS failed
      FROM (SELECT event_id, delivery_id, count(*) FILTER (WHERE NOT final) AS failed
              FROM delivery_log GROUP BY event_id, delivery_id) AS each
     GROUP BY event_id`;
  return new Map(rows.map(({ id, failed }) => [id, failed]));
}

/** Asserts that first arrivals are in order, except for events that failed three times (D8.7). Returns the number of exceptions. */
function checkOrder(received: readonly ReceivedEvent[], failures: ReadonlyMap<string, number>): number {
  const first = new Map<string, number>();
  let latest = -1;
  let overtaken = 0;
  for (const { content, eventId } of received) {
    if (first.has(content)) continue;
    const number = Number(content.split(' ')[1]);
    first.set(content, number);
    if (number > latest) latest = number;
    else {
      overtaken += 1;
      assert.ok((failures.get(eventId) ?? 0) >= 3, `${content} came after ${latest}, and had not failed three times`);
    }
  }
  return overtaken;
}
