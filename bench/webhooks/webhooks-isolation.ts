import { openChats, type Chat } from '../chat-load.ts';
import { percentile } from '../measuring/clock.ts';
import type { Databases } from '../measuring/databases.ts';
import type { Entry } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { freePort } from '../../test/support/network/free-port.ts';
import { temporaryFolder } from '../measuring/processes.ts';
import { firstSite, signIn, startUsher } from '../measuring/usher.ts';
import { messageToArrival } from './webhook-latency.ts';
import { Receiver } from './webhook-receiver.ts';

interface IsolationSize {
  readonly destinations: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** How long the slow receiver takes to answer. */
  readonly slowMs: number;
}

const sizes: Readonly<Record<Size, IsolationSize>> = {
  full: { destinations: 100, perSecond: 200, seconds: 10, slowMs: 10_000 },
  short: { destinations: 5, perSecond: 50, seconds: 1, slowMs: 500 },
};

/** Whether a dead and a slow receiver delay deliveries to the others. */
export const isolation: Entry = {
  name: 'webhooks-isolation',
  async prepare(lab) {
    const { scope } = lab;
    const size = sizes[lab.size];
    const { destinations, slowMs } = size;
    const receiver = new Receiver(scope);
    const healthy = await receiver.listen(destinations);
    const [slow = ''] = await receiver.listen(1, slowMs);
    const dead = `http://127.0.0.1:${await freePort()}/hook`;
    const databases = await lab.startDatabases();
    const allHealthy = await prepareChats(scope, { databases, name: 'healthy', addresses: healthy });
    const addresses = [...healthy.slice(0, -2), dead, slow];
    const impaired = await prepareChats(scope, { databases, name: 'impaired', addresses });

    // The inverse of the p99, because a comparison takes rates.
    const rate = (account: PreparedAccount, healthyCount: number) => async () =>
      1000 / (await p99(scope, receiver, { ...size, account, healthyCount }));
    return [
      {
        name: `from a message to its webhook, p99 of ${destinations - 2} beside a dead and a slow one, against ${destinations} healthy ones`,
        unit: '1/p99 in 1/s',
        ours: rate(impaired, destinations - 2),
        peer: rate(allHealthy, destinations),
        // The p99 may be higher by a factor of at most 1.2.
        atLeast: 1 / 1.2,
      },
    ];
  },
};

interface PreparedAccount {
  readonly databaseUrl: string;
  readonly chats: readonly Chat[];
}

interface AccountOptions {
  readonly databases: Databases;
  readonly name: string;
  /** The URL of each engagement's webhook. */
  readonly addresses: readonly string[];
}

async function prepareChats(
  scope: AsyncDisposableStack,
  { databases, name, addresses }: AccountOptions,
): Promise<PreparedAccount> {
  const databaseUrl = await databases.createForUsher(name);
  const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
  const session = await signIn(usher);
  const { chats } = await openChats(session, await firstSite(session), addresses.length, (n) => addresses[n] ?? null);
  await usher.stop();
  return { databaseUrl, chats };
}

interface IsolationLoad extends IsolationSize {
  readonly account: PreparedAccount;
  /** Destinations that are neither dead nor slow. */
  readonly healthyCount: number;
}

/** Starts a server for each measurement, because a running server would keep retrying the dead and slow destinations. */
async function p99(
  scope: AsyncDisposableStack,
  receiver: Receiver,
  { account, healthyCount, destinations, perSecond, seconds }: IsolationLoad,
): Promise<number> {
  const { databaseUrl, chats } = account;
  const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
  try {
    const arriving = (perSecond * seconds * healthyCount) / destinations;
    const load = { url: usher.url, databaseUrl, chats, perSecond, seconds, arriving };
    return percentile(await messageToArrival(receiver, load), 0.99);
  } finally {
    await usher.stop();
  }
}
