import { FeedClient } from '../measuring/feed-client.ts';
import type { Entry, Scaling } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { openFloor } from '../routing-load.ts';
import { combine, idleCost, startCluster, urlFor, type Cluster } from './scale-cluster.ts';
import { makeAccount, openLanes, type Lane } from './scale-lanes.ts';
import { costFigures, flat, messageCost, rates, valuesOf } from './scale-load.ts';
import type { Session } from '../measuring/usher.ts';

/** Feeds with the same token: as many as a visitor may have open, and fewer than an operator may. */
const feedsEach = { visitor: 10, operator: 25 };

interface FeedNumbers {
  /** Half of them belong to visitors of the account whose chats are measured, the others to idle accounts. */
  readonly feeds: readonly number[];
  readonly idleSeconds: number;
  readonly lanes: number;
}

const sizes: Readonly<Record<Size, FeedNumbers>> = {
  full: { feeds: [0, 2_000, 10_000], idleSeconds: 10, lanes: 5 },
  short: { feeds: [0, 50], idleSeconds: 0.2, lanes: 1 },
};

interface Watched {
  readonly cluster: Cluster;
  readonly lanes: readonly Lane[];
  readonly feeds: number;
}

/** The cost of open feeds on which nothing happens: for the messages of others, and while the process is idle. */
export const scaleFeeds: Entry = {
  name: 'scale-feeds',
  async prepare({ scope, size, ...lab }) {
    const { feeds, idleSeconds, lanes: lanesEach } = sizes[size];
    const databases = await lab.startCountingDatabases();
    const watched: Watched[] = [];
    for (const count of feeds) {
      const cluster = await startCluster(scope, databases, { name: `feeds_${count}`, processes: 1 });
      const lanes = await openLanes(cluster, { accounts: 1, lanesEach });
      watched.push({ cluster, lanes, feeds: count });
    }
    // Only then the feeds, which cost something while others are prepared.
    for (const each of watched) await openFeeds(scope, each);
    return [messages(watched, size), idle(watched, idleSeconds)];
  },
};

function messages(watched: readonly Watched[], size: Size): Scaling {
  return {
    figures: costFigures('a message'),
    sizes: watched.map(({ feeds, ...each }) => ({
      name: nameOf(feeds),
      measure: async () => valuesOf(await messageCost(each, rates[size].messages)),
    })),
    atMost: flat,
  };
}

/** Both processes are idle at the same time, so that a noisy machine affects both alike. */
function idle(watched: readonly Watched[], seconds: number): Scaling {
  const [none, ...larger] = watched;
  if (none === undefined) throw new Error('there is no process without idle feeds');
  return {
    figures: costFigures('1,000 feeds in a second'),
    sizes: larger.map(({ cluster, feeds }) => ({
      name: nameOf(feeds),
      async measure() {
        const [without, cost] = await Promise.all([idleCost(none.cluster, seconds), idleCost(cluster, seconds)]);
        return valuesOf(combine(cost, without, (used, usedWithout) => ((used - usedWithout) / feeds) * 1000));
      },
    })),
    atMost: flat,
  };
}

function nameOf(feeds: number): string {
  return feeds === 0 ? 'no idle feeds' : `${feeds.toLocaleString('en')} idle feeds`;
}

/** The operators of the chats have a feed at every size, so that the process reads the log of the account anyway. */
async function openFeeds(scope: AsyncDisposableStack, { cluster, lanes, feeds }: Watched): Promise<void> {
  const url = urlFor(cluster, 0);
  const open = async (tokens: readonly string[], each: number): Promise<void> => {
    for (const token of tokens) {
      const clients = Array.from({ length: each }, () => new FeedClient(url, token));
      for (const client of clients) scope.defer(() => client.close());
      await Promise.all(clients.map(async (client) => client.opened));
    }
  };
  await open(
    lanes.map(({ operator }) => operator.token),
    1,
  );
  const half = feeds / 2;
  await open(await visitorTokens(lanes, Math.ceil(half / feedsEach.visitor)), feedsEach.visitor);
  await open(await operatorTokens(cluster, Math.ceil(half / feedsEach.operator)), feedsEach.operator);
}

/** Visitors of the account whose chats are measured, who have no chat. */
async function visitorTokens([lane]: readonly Lane[], count: number): Promise<readonly string[]> {
  if (lane === undefined) throw new Error('there are no lanes');
  const { session, siteId } = lane;
  const { visitors } = await openFloor(session, siteId, { operators: 0, visitors: count });
  return visitors.map(({ token }) => token);
}

/** The super_managers of idle accounts. */
async function operatorTokens(cluster: Cluster, count: number): Promise<readonly string[]> {
  const tokens: string[] = [];
  while (tokens.length < count) tokens.push(tokenOf((await makeAccount(cluster, 1)).session));
  return tokens;
}

function tokenOf({ headers }: Session): string {
  return headers['authorization']?.replace('Bearer ', '') ?? '';
}
