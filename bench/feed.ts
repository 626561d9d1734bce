import { setTimeout as sleep } from 'node:timers/promises';
import { firstSite, residentMegabytes, socketOf } from './api.ts';
import { openChats, sendAtRate, type Chat } from './chat-load.ts';
import { percentile } from './clock.ts';
import { FeedClient } from './feed-client.ts';
import type { Entry, Limit } from './harness.ts';
import { temporaryFolder } from './processes.ts';
import { openFloor } from './routing-load.ts';
import { signIn, startUsher, type Usher } from './usher.ts';

const feeds = 2_000;
const chatting = 100;
const messagesPerSecond = 200;
const seconds = 5;

/** What an open feed costs, and how long a message is under way to it. */
export const feed: Entry = {
  name: 'feed',
  async prepare(scope) {
    const usher = await startUsher(scope, temporaryFolder(scope));
    const session = await signIn(usher);
    const siteId = await firstSite(session);
    const { chats } = await openChats(session, siteId, chatting);
    const { socketDirectory, user, database } = socketOf(usher);
    const address = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socketDirectory)}`;
    const other = await startUsher(scope, temporaryFolder(scope), address);
    const folder = temporaryFolder(scope);
    let crowd = await startUsher(scope, folder);
    const crowded = await signIn(crowd);
    const floor = await openFloor(crowded, await firstSite(crowded), { operators: 0, visitors: feeds });
    const tokens = floor.visitors.map(({ token }) => token);
    const restart = async (): Promise<Usher> => {
      await crowd.stop();
      return (crowd = await startUsher(scope, folder));
    };
    return [
      memory(restart, tokens),
      latency('one process', { chats, from: usher, to: usher }),
      latency('two processes', { chats, from: usher, to: other }),
    ];
  },
};

/** Open feeds against none, in a process that has just started: one that had feeds before keeps their memory for the next. */
function memory(restart: () => Promise<Usher>, tokens: readonly string[]): Limit {
  return {
    name: `memory of an open feed, ${feeds} of them`,
    unit: 'KB',
    async measure() {
      const usher = await restart();
      await firstSite(await signIn(usher));
      await sleep(3_000);
      const before = residentMegabytes(usher.pid);
      const clients = tokens.map((token) => new FeedClient(usher.url, token));
      await Promise.all(clients.map(async (client) => client.opened));
      await sleep(3_000);
      const after = residentMegabytes(usher.pid);
      for (const client of clients) client.close();
      return ((after - before) * 1000) / feeds;
    },
    atMost: 40,
  };
}

interface Route {
  readonly chats: readonly Chat[];
  /** Where messages are sent, and where the other side listens. */
  readonly from: Usher;
  readonly to: Usher;
}

function latency(name: string, { chats, from, to }: Route): Limit {
  return {
    name: `from sending a message to seeing it, ${name}, p99 at ${messagesPerSecond} a second`,
    unit: 'ms',
    async measure() {
      const listening = chats.map(({ operatorToken }) => new FeedClient(to.url, operatorToken));
      await Promise.all(listening.map(async (client) => client.opened));
      const total = messagesPerSecond * seconds;
      const content = (): string => `sent at ${performance.now()}`;
      await sendAtRate(from.url, chats, { count: total, perSecond: messagesPerSecond, content });
      await sleep(500);
      const took = listening.flatMap((client) => client.took);
      for (const client of listening) client.close();
      if (took.length !== total) throw new Error(`${took.length} of ${total} messages arrived`);
      return percentile(took, 0.99);
    },
    atMost: 50,
  };
}
