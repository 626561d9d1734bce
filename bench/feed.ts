import { setTimeout as sleep } from 'node:timers/promises';
import { residentMegabytes } from './api.ts';
import { openChats, sendAtRate, type Chat } from './chat-load.ts';
import { percentile } from './measuring/clock.ts';
import { FeedClient } from './measuring/feed-client.ts';
import type { Entry, Limit } from './measuring/harness.ts';
import { assertInOrder } from './measuring/in-order.ts';
import type { Size } from './measuring/lab.ts';
import { temporaryFolder } from './measuring/processes.ts';
import { openFloor } from './routing-load.ts';
import { firstSite, signIn, startUsher, type Usher } from './measuring/usher.ts';

interface FeedSize {
  /** Feeds that are open at the same time. */
  readonly feeds: number;
  /** How long a process gets to compile code and collect garbage before its memory is read. */
  readonly settleMs: number;
  readonly chatting: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const sizes: Readonly<Record<Size, FeedSize>> = {
  full: { feeds: 2_000, settleMs: 3_000, chatting: 100, perSecond: 200, seconds: 5 },
  short: { feeds: 20, settleMs: 100, chatting: 3, perSecond: 50, seconds: 1 },
};
/** How long the last messages may take to arrive. */
const arrivalTimeoutMs = 10_000;

/** The memory of an open feed, and the latency of a message on it. */
export const feed: Entry = {
  name: 'feed',
  async prepare(lab) {
    const { scope } = lab;
    const size = sizes[lab.size];
    const usher = await lab.startUsher();
    const session = await signIn(usher);
    const siteId = await firstSite(session);
    const { chats } = await openChats(session, siteId, size.chatting);
    const other = await startUsher(scope, temporaryFolder(scope), usher.databaseUrl);
    let feedServer = await lab.startUsher();
    const feedSession = await signIn(feedServer);
    const floor = await openFloor(feedSession, await firstSite(feedSession), { operators: 0, visitors: size.feeds });
    const tokens = floor.visitors.map(({ token }) => token);
    const restart = async (): Promise<Usher> => (feedServer = await feedServer.restart());
    return [
      memory(restart, tokens, size),
      latency('one process', { chats, from: usher, to: usher, atMost: 8 }, size),
      latency('two processes', { chats, from: usher, to: other, atMost: 12 }, size),
    ];
  },
};

/** Memory with open feeds less memory without. The process is new each time: an older one reuses memory of closed feeds. */
function memory(restart: () => Promise<Usher>, tokens: readonly string[], { feeds, settleMs }: FeedSize): Limit {
  return {
    name: `memory of an open feed, ${feeds} of them`,
    unit: 'KB',
    async measure() {
      const usher = await restart();
      await firstSite(await signIn(usher));
      await sleep(settleMs);
      const before = residentMegabytes(usher.pid);
      const clients = tokens.map((token) => new FeedClient(usher.url, token));
      await Promise.all(clients.map(async (client) => client.opened));
      await sleep(settleMs);
      const after = residentMegabytes(usher.pid);
      for (const client of clients) client.close();
      return ((after - before) * 1000) / feeds;
    },
    atMost: 40,
  };
}

interface LatencyPath {
  readonly chats: readonly Chat[];
  /** The process that receives the messages, and the process that serves the feeds. */
  readonly from: Usher;
  readonly to: Usher;
  /** Milliseconds. */
  readonly atMost: number;
}

function latency(name: string, { chats, from, to, atMost }: LatencyPath, { perSecond, seconds }: FeedSize): Limit {
  return {
    name: `from sending a message to seeing it, ${name}, p99 at ${perSecond} a second`,
    unit: 'ms',
    async measure() {
      const clients = chats.map(({ operatorToken }) => new FeedClient(to.url, operatorToken));
      await Promise.all(clients.map(async (client) => client.opened));
      const count = perSecond * seconds;
      const nextText = (): string => `sent at ${performance.now()}`;
      await sendAtRate(from.url, chats, { count, perSecond, nextText });
      await waitForMessages(clients, count);
      for (const client of clients) client.close();
      const contents = clients.flatMap((client) => client.contents);
      assertInOrder('the feeds', contents);
      const took = clients.flatMap((client) => client.latenciesMs);
      return percentile(took, 0.99);
    },
    atMost,
  };
}

/** Waits until the feeds have received `count` messages in total. */
export async function waitForMessages(clients: readonly FeedClient[], count: number): Promise<void> {
  const arrived = (): number => clients.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  const deadline = performance.now() + arrivalTimeoutMs;
  while (arrived() < count) {
    if (performance.now() > deadline) throw new Error(`${arrived()} of ${count} messages arrived`);
    await sleep(5);
  }
}
