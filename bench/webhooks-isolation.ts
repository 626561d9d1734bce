import { openChats, type Chat } from './chat-load.ts';
import { percentile } from './clock.ts';
import type { Databases } from './databases.ts';
import type { Entry } from './harness.ts';
import type { Size } from './lab.ts';
import { freePort, temporaryFolder } from './processes.ts';
import { firstSite, signIn, startUsher } from './usher.ts';
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

/** Whether one receiver that is dead and one that is slow are felt by the others. */
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
    const all = await openPlace(scope, { databases, name: 'healthy', addresses: healthy });
    const addresses = [...healthy.slice(0, -2), dead, slow];
    const sick = await openPlace(scope, { databases, name: 'sick', addresses });

    // A p99 as a rate, of which more is better.
    const rate = (place: Place, sound: number) => async () =>
      1000 / (await p99(scope, receiver, { ...size, place, sound }));
    return [
      {
        name: `from a message to its webhook, p99 of ${destinations - 2} beside a dead and a slow one, against ${destinations} healthy ones`,
        unit: '1/p99 in 1/s',
        ours: rate(sick, destinations - 2),
        peer: rate(all, destinations),
        // As fast, within a factor of 1.2.
        atLeast: 1 / 1.2,
      },
    ];
  },
};

interface Place {
  readonly databaseUrl: string;
  readonly chats: readonly Chat[];
}

interface Opening {
  readonly databases: Databases;
  readonly name: string;
  /** Of the webhook that each engagement brings along. */
  readonly addresses: readonly string[];
}

async function openPlace(scope: AsyncDisposableStack, { databases, name, addresses }: Opening): Promise<Place> {
  const databaseUrl = await databases.ofUsher(name);
  const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
  const session = await signIn(usher);
  const { chats } = await openChats(session, await firstSite(session), addresses.length, (n) => addresses[n] ?? null);
  await usher.stop();
  return { databaseUrl, chats };
}

interface Sending extends IsolationSize {
  readonly place: Place;
  /** Destinations of the place that are neither dead nor slow. */
  readonly sound: number;
}

/** With a server that runs for this only: what is dead or slow goes on being tried for as long as it does. */
async function p99(
  scope: AsyncDisposableStack,
  receiver: Receiver,
  { place, sound, destinations, perSecond, seconds }: Sending,
): Promise<number> {
  const { databaseUrl, chats } = place;
  const usher = await startUsher(scope, temporaryFolder(scope), databaseUrl);
  try {
    const arriving = (perSecond * seconds * sound) / destinations;
    const load = { url: usher.url, databaseUrl, chats, perSecond, seconds, arriving };
    return percentile(await messageToArrival(receiver, load), 0.99);
  } finally {
    await usher.stop();
  }
}
