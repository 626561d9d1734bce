import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startCluster } from '../../support/processes/cluster.ts';
import type { FloodOrder, FloodReport } from '../../support/network/flood.ts';
import { callFrom, feedFrom } from '../../support/network/from-address.ts';
import { until } from '../../support/server.ts';
import {
  makeAccount,
  makeApplicationToken,
  makeAvailableOperator,
  makeQueue,
  type ServerHandle,
  type TestOperator,
} from '../../support/world.ts';

/** The long form has 60 s of flood, in rounds that alternate with quiet ones, and compares response times. */
const isLong = process.env['PROVE'] !== undefined;
const rounds = isLong ? 6 : 1;
const roundMs = isLong ? 10_000 : 3_000;
/** The start of a flood is measured separately. */
const startMs = 3_000;
const maxSlowdown = 1.2;

/** Milliseconds by kind of request. */
type Times = Map<string, number[]>;

/** A round with a flood, and the quiet rounds before and after it. */
interface Pair {
  readonly quiet: Times;
  readonly flooded: Times;
}

interface Slowdown {
  readonly usualMs: number;
  readonly floodedMs: number;
  readonly factor: number;
}

interface Shop extends FloodOrder {
  readonly server: ServerHandle;
  /** A queue with operators. `queueId` is the flooded queue. */
  readonly staffed: string;
  readonly operators: readonly TestOperator[];
}

async function openShop(server: ServerHandle): Promise<Shop> {
  const account = await makeAccount(server);
  const roomy = { when_unstaffed: 'accept', capacity_policy: { type: 'fixed', capacity: 100 } };
  // No operator is in this team, so every accepted visitor waits.
  const queueId = await makeQueue(server, account, { ...roomy, routing_policy: { media: ['phone'] } });
  const staffed = await makeQueue(server, account, { ...roomy, routing_policy: { media: ['text'] } });
  const operators = await Promise.all(
    Array.from({ length: 3 }, async () => makeAvailableOperator(server, account, { media: ['text'] })),
  );
  const { header: token } = await makeApplicationToken(server, account, 'publishable');
  return { server, url: server.url, token, siteId: account.siteId, queueId, staffed, operators };
}

const kindsOf = {
  'requests of visitors': [
    'visitor created',
    'ticket created',
    'ticket canceled',
    'operator requested',
    'message sent',
  ],
  'requests of operators': ['offer accepted', 'offers read', 'sites read', 'engagement ended', "operator's feed open"],
};

let neighbours = 0;

/** A visitor with their own IP address. */
function neighbour(): { localAddress: string; agent: Agent } {
  neighbours += 1;
  const localAddress = `127.${1 + (Math.floor(neighbours / 250) % 250)}.0.${1 + (neighbours % 250)}`;
  return { localAddress, agent: new Agent({ keepAlive: true }) };
}

/** Visitors enter the flooded queue, chat with an operator and leave. The time of each response is recorded. */
async function work({ server, ...shop }: Shop, operator: TestOperator, times: Times): Promise<void> {
  const from = neighbour();
  const timed = async (what: string, who: typeof from, request: string, options: Parameters<typeof callFrom>[3]) => {
    const began = performance.now();
    const answer = await callFrom(who, server, request, options);
    times.set(what, [...(times.get(what) ?? []), performance.now() - began]);
    assert.ok(answer.status < 300, `${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const desk = { localAddress: '127.0.0.9', agent: from.agent };
  const visitor = await timed('visitor created', from, 'POST /visitors', { token: shop.token, body: {} });
  const token = visitor.access_token;
  const wish = { site_id: shop.siteId, queue_ids: [shop.queueId], media: 'phone' };
  const ticket = await timed('ticket created', from, 'POST /queue_tickets', { token, body: wish });
  const body = { action: 'cancel' };
  await timed('ticket canceled', from, `PATCH /queue_tickets/${ticket.id}`, { token, body });
  const toOperator = { site_id: shop.siteId, operator_id: operator.id, media: 'text' };
  const offer = await timed('operator requested', from, 'POST /engagement_requests', { token, body: toOperator });
  const accept = { token: operator.token, body: { action: 'accept' } };
  const accepted = await timed('offer accepted', desk, `PATCH /engagement_requests/${offer.id}`, accept);
  const path = `/engagements/${accepted.engagement_id}`;
  const message = { token, body: { content: 'Hello' } };
  await timed('message sent', from, `PUT ${path}/chat_messages/${randomUUID()}`, message);
  await timed('offers read', desk, 'GET /engagement_requests?state=pending', { token: operator.token });
  await timed('sites read', desk, 'GET /sites', { token: operator.token });
  await timed('engagement ended', desk, `PATCH ${path}`, { token: operator.token, body: { action: 'end' } });
  const began = performance.now();
  const feed = await feedFrom(desk, server, operator.token);
  times.set("operator's feed open", [...(times.get("operator's feed open") ?? []), performance.now() - began]);
  assert.equal(feed.status, 200);
  feed.close();
  from.agent.destroy();
}

async function workFor(shop: Shop, ms: number): Promise<Times> {
  const times: Times = new Map();
  const until = performance.now() + ms;
  await Promise.all(
    shop.operators.map(async (operator) => {
      while (performance.now() < until) {
        await work(shop, operator, times);
        await pause(20);
      }
    }),
  );
  return times;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function prepareFlood({ url, token, siteId, queueId }: FloodOrder) {
  const child = fork(new URL('../../support/network/flood.ts', import.meta.url), { stdio: 'inherit' });
  return {
    begin(): void {
      child.send({ url, token, siteId, queueId } satisfies FloodOrder);
    },
    async end(): Promise<FloodReport> {
      const signal = AbortSignal.timeout(30_000);
      const reported = once(child, 'message', { signal });
      child.send('end');
      const [report] = (await reported) as [FloodReport];
      return report;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      // `false`: the flood has already ended.
      if (child.kill()) await ended;
    },
  };
}

const longestMs = isLong ? 600_000 : 120_000;

test(
  'a flood from one IP address keeps no other visitor out of the queue or the feed and slows no response',
  { timeout: longestMs },
  async (t) => {
    await using cluster = await startCluster(1, { USHER_RATE_LIMIT_PER_TOKEN: '6000' });
    const [node] = cluster.nodes;
    assert(node !== undefined);
    const server = cluster.reach(node);
    const shop = await openShop(server);
    // Operators read their feeds in all rounds.
    const desk = { localAddress: '127.0.0.9', agent: new Agent() };
    const feeds = await Promise.all(shop.operators.map(async ({ token }) => feedFrom(desk, server, token)));
    await using flood = prepareFlood(shop);
    const quiet = [await workFor(shop, isLong ? roundMs : 1_000)];
    const starts: Times[] = [];
    const sustained: Times[] = [];
    for (let round = 0; round < rounds; round += 1) {
      flood.begin();
      const tickets = async (): Promise<number> => {
        const [row] = await cluster.database.sql`
        SELECT count(*)::integer AS count FROM queue_tickets
         WHERE ${shop.queueId} = ANY(queue_ids) AND ended_at IS NULL AND address_hash IS NOT NULL`;
        return Number(row?.['count']);
      };
      await until(async () => (await tickets()) >= 10);
      // The flood uses its limits at once: 100 feeds, 60 visitors, 100 requests, 2,000 sockets.
      if (isLong) starts.push(await workFor(shop, startMs));
      sustained.push(await workFor(shop, roundMs));
      // Ten tickets of the flood, and at most three of the other visitors.
      assert.ok((await tickets()) <= 13);
      const report = await flood.end();
      t.diagnostic(JSON.stringify(report));
      assert.ok(report.openFeeds <= 100, `${report.openFeeds} feeds`);
      if (isLong) quiet.push(await workFor(shop, roundMs));
    }
    assert.ok(feeds.every((feed) => feed.isOpen()));
    const [made] = await cluster.database.sql`SELECT count(*)::integer AS count FROM visitors`;
    t.diagnostic(`${String(made?.['count'])} visitors in all`);
    if (!isLong) return;
    compare(t, 'at the start', pairsOf(quiet, starts));
    assert.deepEqual(compare(t, 'sustained', pairsOf(quiet, sustained)), []);
  },
);

function pairsOf(quiet: readonly Times[], flooded: readonly Times[]): Pair[] {
  return flooded.map((each, index) => {
    const [before, after] = [quiet[index], quiet[index + 1]];
    const both = [...(before ?? []), ...(after ?? [])];
    const names = [...new Set(both.map(([what]) => what))];
    const timesOf = (what: string): number[] => both.flatMap(([name, times]) => (name === what ? times : []));
    return { quiet: new Map(names.map((what) => [what, timesOf(what)])), flooded: each };
  });
}

/**
 * How much slower requests are than in the quiet rounds around. The median of all pairs of rounds counts, because other work on
 * the machine disturbs some.
 */
function slowdown(pairs: readonly Pair[], share: number, by: (times: Times) => readonly number[]): Slowdown {
  const found = pairs.map(({ quiet, flooded }) => ({
    usualMs: quantile(by(quiet), share),
    floodedMs: quantile(by(flooded), share),
  }));
  const middle = found.toSorted((a, b) => a.floodedMs / a.usualMs - b.floodedMs / b.usualMs)[found.length >> 1];
  assert(middle !== undefined);
  return { ...middle, factor: middle.floodedMs / middle.usualMs };
}

/** The median of each kind of request, and the 99th percentile of visitors and of operators. */
function compare(t: { diagnostic(text: string): void }, when: string, pairs: readonly Pair[]): string[] {
  const slower: string[] = [];
  const say = (what: string, share: number, by: (times: Times) => readonly number[]): void => {
    const { usualMs, floodedMs, factor } = slowdown(pairs, share, by);
    const figures = `${usualMs.toFixed(2)} → ${floodedMs.toFixed(2)} ms (${factor.toFixed(2)}x)`;
    t.diagnostic(`${when}: ${what}, p${share * 100}: ${figures}`);
    if (factor > maxSlowdown) slower.push(`${what}: ${figures}`);
  };
  for (const what of Object.values(kindsOf).flat()) say(what, 0.5, (times) => times.get(what) ?? []);
  for (const [whose, kinds] of Object.entries(kindsOf))
    say(whose, 0.99, (times) => kinds.flatMap((what) => times.get(what) ?? []));
  return slower;
}
