import { actAtRate, type Rate } from '../measuring/at-rate.ts';
import { sendMessage, visitorOf, type Chat } from '../chat-load.ts';
import type { Scaling } from '../measuring/harness.ts';
import type { Size } from '../measuring/lab.ts';
import { costPerUnit, type Cluster, type Cost } from './scale-cluster.ts';
import { beginChat, connected, endChat, type ConnectedLane, type Lane } from './scale-lanes.ts';
import type { Receiver } from '../webhooks/webhook-receiver.ts';

/** How much more a unit may cost at a larger size than at the smallest. */
export const flat = 1.15;

/**
 * The rates are the same at every size, and so low that hardly anything is batched: at a higher rate a single process writes larger
 * batches than each of several processes, which would hide what else differs.
 */
export const rates: Readonly<Record<Size, Readonly<Record<'engagements' | 'messages', Rate>>>> = {
  full: { engagements: { count: 60, perSecond: 12 }, messages: { count: 200, perSecond: 40 } },
  short: { engagements: { count: 4, perSecond: 40 }, messages: { count: 10, perSecond: 100 } },
};

/** Before the first measurement, for each process: code that was just loaded is slow, and each of several processes runs it less often. */
const warmUpRates: typeof rates = {
  full: { engagements: { count: 100, perSecond: 40 }, messages: { count: 1_000, perSecond: 250 } },
  short: { engagements: { count: 1, perSecond: 40 }, messages: { count: 1, perSecond: 100 } },
};

export async function warmUp({ cluster, lanes, size, webhookUrl }: Omit<Load, 'receiver'>): Promise<void> {
  const forAll = ({ count, perSecond }: Rate): Rate => ({ count: count * cluster.processes.length, perSecond });
  const { engagements, messages } = warmUpRates[size];
  await connected(lanes, async (open) => runEngagements(open, forAll(engagements)));
  await withChats(lanes, webhookUrl, async (send) => send(forAll(messages)));
}

interface Load {
  readonly cluster: Cluster;
  readonly lanes: readonly Lane[];
  readonly receiver: Receiver;
  readonly webhookUrl: string;
  readonly size: Size;
}

const units = ['a complete engagement', 'a message', 'a message with its delivery'];

/** The figures that `measureLoad` returns, in this order. */
export const loadFigures: Scaling['figures'] = units.flatMap((unit) => costFigures(unit));

export function costFigures(unit: string): Scaling['figures'] {
  return [
    { name: `processor time of Node for ${unit}, less the idle cost`, unit: 'ms' },
    { name: `processor time of PostgreSQL for ${unit}, less the idle cost`, unit: 'ms' },
    { name: `SQL statements for ${unit}, less the idle cost`, unit: 'statements' },
  ];
}

export async function measureLoad(load: Load): Promise<readonly number[]> {
  const { engagements, messages } = rates[load.size];
  const costs = [
    await engagementCost(load, engagements),
    await messageCost(load, messages),
    await deliveryCost(load, messages),
  ];
  return costs.flatMap(valuesOf);
}

export function valuesOf({ nodeMs, postgresMs, statements }: Cost): number[] {
  return [nodeMs, postgresMs, statements];
}

async function engagementCost({ cluster, lanes }: Load, rate: Rate): Promise<Cost> {
  return connected(lanes, async (open) => costPerUnit(cluster, rate.count, async () => runEngagements(open, rate)));
}

async function runEngagements(lanes: readonly ConnectedLane[], rate: Rate): Promise<void> {
  await actAtRate(lanes, rate, async (lane) => endChat(lane, await beginChat(lane)));
}

/** A message of a chat without a webhook. */
export async function messageCost({ cluster, lanes }: Pick<Load, 'cluster' | 'lanes'>, rate: Rate): Promise<Cost> {
  return withChats(lanes, null, async (send) => costPerUnit(cluster, rate.count, async () => send(rate)));
}

/** A message of a chat with a webhook that subscribes to it, until the outcome of its delivery is stored. */
async function deliveryCost({ cluster, lanes, receiver, webhookUrl }: Load, rate: Rate): Promise<Cost> {
  return withChats(lanes, webhookUrl, async (send) => {
    await receiver.clear();
    return costPerUnit(cluster, rate.count, async () => {
      await send(rate);
      await receiver.expect(rate.count);
    });
  });
}

/** Each lane has a chat while `use` runs. */
async function withChats<T>(
  lanes: readonly Lane[],
  webhookUrl: string | null,
  use: (send: (rate: Rate) => Promise<void>) => Promise<T>,
): Promise<T> {
  const begun = await connected(lanes, async (open) =>
    Promise.all(open.map(async (lane) => beginChat(lane, webhookUrl))),
  );
  const chats = new Map(begun.map((chat, n) => [lanes[n]?.siteId, chat]));
  const chatOf = ({ siteId }: Lane): Chat => {
    const chat = chats.get(siteId);
    if (chat === undefined) throw new Error('the lane has no chat');
    return chat;
  };
  const result = await connected(lanes, async (open) =>
    use(async (rate) =>
      actAtRate(open, rate, async (lane) => sendMessage(lane.visitorClient, visitorOf(chatOf(lane)))),
    ),
  );
  await connected(lanes, async (open) => Promise.all(open.map(async (lane) => endChat(lane, chatOf(lane)))));
  return result;
}
