import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { openDatabase, type Database } from '../../packages/server/src/platform/database.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../packages/server/src/platform/embedded-postgres.ts';
import { migrate } from '../../packages/server/src/platform/migrations.ts';
import { urlOf } from '../support/cluster.ts';
import { engage, type Engaged } from '../support/chat.ts';
import { isTaken, MisbehavingReceiver, type Heard } from '../support/misbehaving.ts';
import { launch, temporaryDirectory, type UsherProcess } from '../support/process.ts';
import { call, until } from '../support/server.ts';
import { makeWebhook } from '../support/webhooks.ts';

/** `npm run prove` takes the long form. */
const isLong = process.env['PROVE'] !== undefined;
const messages = isLong ? 10_000 : 1_000;
const engagements = isLong ? 40 : 12;
const kills = isLong ? 20 : 4;
const restarts = isLong ? 4 : 1;
const killEveryMs = 3_000;

/** Out of a thousand. Whoever hangs costs fifteen seconds, so that few do. */
const moods = { drip: 5, cut: 20, refuse: 40, busy: 20, reset: 20, hang: 1, deaf: 20, endless: 5 };

interface World {
  postgres: EmbeddedPostgres;
  readonly dataDir: string;
  readonly database: Database;
  readonly nodes: UsherProcess[];
  readonly start: () => Promise<UsherProcess>;
  /** When a process was killed, or the database went down and came back. */
  readonly faults: number[];
}

test(
  `${2 * messages} events, receivers that fail in every way, processes killed and the database restarted: an exact ledger`,
  { timeout: isLong ? 1_800_000 : 240_000 },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'usher-ledger-'));
    const scratch = temporaryDirectory();
    const postgres = await startEmbeddedPostgres(dataDir);
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
    const receivers = [await MisbehavingReceiver.start(moods), await MisbehavingReceiver.start(moods)];
    try {
      for (let count = 0; count < 3; count += 1) world.nodes.push(await start());
      const chats = await openChats(world, receivers);
      const isOver = new AbortController();
      const hurrying = hurry(world, isOver.signal);
      const [acknowledged] = await Promise.all([talk(world, chats), wreck(world)]);
      await untilAllTaken(receivers, acknowledged);
      await until(async () => (await waiting(world)) === 0, 120_000);
      isOver.abort();
      await hurrying;
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

/** Engagements in accounts of their own; each account tells both receivers of every message. */
async function openChats(world: World, receivers: readonly MisbehavingReceiver[]): Promise<Engaged[]> {
  const chats: Engaged[] = [];
  while (chats.length < engagements) {
    const chat = await engage({ url: anyone(world).url, database: world.database });
    const events = ['engagement.chat.message'];
    for (const { url } of receivers) await makeWebhook(chat.server, chat.own, { url, events });
    chats.push(chat);
  }
  return chats;
}

function anyone({ nodes }: World): UsherProcess {
  const alive = nodes.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  const node = alive[Math.floor(Math.random() * alive.length)];
  if (node === undefined) throw new Error('nobody is there');
  return node;
}

/** Says things until they are acknowledged, whoever dies; answers what was, by content. */
async function talk(world: World, chats: readonly Engaged[]): Promise<Set<string>> {
  const acknowledged = new Set<string>();
  let next = 0;
  await Promise.all(
    chats.map(async (chat, index) => {
      for (let said = 0; next < messages; said += 1) {
        next += 1;
        const content = `${index} ${said}`;
        await sayUntilAcknowledged(world, chat, content);
        acknowledged.add(content);
        // Spread over the time in which things break.
        await pause(Math.random() * 2 * ((kills * killEveryMs * engagements) / messages));
      }
    }),
  );
  return acknowledged;
}

async function sayUntilAcknowledged(world: World, { id, visitor }: Engaged, content: string): Promise<void> {
  const path = `PUT /engagements/${id}/chat_messages/${randomUUID()}`;
  for (let attempt = 0; attempt < 600; attempt += 1) {
    try {
      const answer = await call(anyone(world), path, { token: visitor.token, body: { content } });
      if (answer.status === 200) return;
      assert.ok(answer.status >= 500, `${answer.status} ${JSON.stringify(answer.body)}`);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
    }
    await pause(100);
  }
  throw new Error('nobody has acknowledged it');
}

async function wreck(world: World): Promise<void> {
  for (let round = 1; round <= kills; round += 1) {
    await pause(killEveryMs);
    const victim = anyone(world);
    world.faults.push(Date.now());
    await victim.stop('SIGKILL');
    world.nodes.splice(world.nodes.indexOf(victim), 1);
    if (round % Math.ceil(kills / restarts) === 0) {
      world.faults.push(Date.now());
      await world.postgres.stop();
      world.postgres = await startEmbeddedPostgres(world.dataDir);
      world.faults.push(Date.now());
    }
    world.nodes.push(await world.start());
  }
}

/** What was put off for minutes or hours comes at once: the test has no days. */
async function hurry({ database: { sql } }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sql`UPDATE deliveries SET due_at = now() WHERE due_at > now()`.catch(() => undefined);
    await pause(300);
  }
}

async function waiting({ database: { sql } }: World): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM deliveries`;
  return row?.count ?? -1;
}

async function untilAllTaken(receivers: readonly MisbehavingReceiver[], acknowledged: ReadonlySet<string>) {
  const isAllTaken = ({ heard }: MisbehavingReceiver): boolean => {
    const taken = new Set(heard.filter(isTaken).map(({ content }) => content));
    return [...acknowledged].every((content) => taken.has(content));
  };
  await until(() => receivers.every(isAllTaken), 300_000);
}

async function audit(world: World, receivers: readonly MisbehavingReceiver[], acknowledged: ReadonlySet<string>) {
  const failures = await failuresOf(world);
  let duplicates = 0;
  let overtaken = 0;
  for (const { heard } of receivers) {
    const told = new Set(heard.map(({ content }) => content));
    assert.deepEqual(
      [...told].filter((content) => !acknowledged.has(content)),
      [],
      'an event was invented',
    );
    for (const [eventId, times] of Map.groupBy(heard.filter(isTaken), (each) => each.eventId)) {
      for (const [index, again] of times.slice(1).entries()) {
        duplicates += 1;
        assert.ok(isExplained(world.faults, times[index], again), `${eventId} was delivered twice for no reason`);
      }
    }
    for (const each of Map.groupBy(heard, ({ engagementId }) => engagementId).values())
      overtaken += checkOrder(each, failures);
  }
  const counts = receivers.map(({ counts: each, heard }) => ({ requests: heard.length, ...Object.fromEntries(each) }));
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

/** Delivered again because whoever had delivered it died, or the database did, before that was written down. */
function isExplained(faults: readonly number[], before: Heard | undefined, again: Heard): boolean {
  return before !== undefined && faults.some((at) => at >= before.at - 1_000 && at <= again.at);
}

/** How often each event failed at most, at either receiver, by its id. */
async function failuresOf({ database: { sql } }: World): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; failed: number }[]>`
    SELECT event_id AS id, max(failed)::integer AS failed
      FROM (SELECT event_id, delivery_id, count(*) FILTER (WHERE NOT final) AS failed
              FROM delivery_log GROUP BY event_id, delivery_id) AS each
     GROUP BY event_id`;
  return new Map(rows.map(({ id, failed }) => [id, failed]));
}

/** First arrivals are in order, but for what has failed three times (D8.7). How many were. */
function checkOrder(heard: readonly Heard[], failures: ReadonlyMap<string, number>): number {
  const first = new Map<string, number>();
  let latest = -1;
  let overtaken = 0;
  for (const { content, eventId } of heard) {
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
