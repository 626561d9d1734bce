import { maxPerDestination } from '../../packages/server/src/webhooks/dispatcher/transport.ts';
import { end, ask, startPeer } from '../measuring/processes.ts';
import { vacuumAndCheckpoint, type Databases } from '../measuring/databases.ts';
import { assertInOrder } from '../measuring/in-order.ts';
import type { Size } from '../measuring/lab.ts';
import { startRedis } from '../measuring/redis.ts';
import type { PeerRequest } from './webhook-peer.ts';
import type { Receiver } from './webhook-receiver.ts';
import type { Work } from './webhook-post.ts';

/** Events to deliver to one address. The measured events come after events that warm up a newly started process. */
export interface Backlog {
  readonly target: string;
  readonly warmUpEvents: number;
  readonly measuredEvents: number;
}

const sizes: Readonly<Record<Size, Omit<Backlog, 'target'>>> = {
  full: { warmUpEvents: 2_000, measuredEvents: 10_000 },
  short: { warmUpEvents: 50, measuredEvents: 200 },
};

export function backlogFor(size: Size, target: string): Backlog {
  return { target, ...sizes[size] };
}

export function totalOf({ warmUpEvents, measuredEvents }: Backlog): number {
  return warmUpEvents + measuredEvents;
}

/** Concurrent requests, the same for all contestants. */
const concurrency = maxPerDestination;

/** A contestant whose backlog is stored and ready to be delivered. */
export interface LoadedContestant {
  /** Delivers the backlog. Returns the time at which all outcomes were stored. `arrived` resolves when all events arrived. */
  readonly drain: (arrived: Promise<unknown>) => Promise<number>;
  readonly stop: () => Promise<void>;
  /** By event id, a text that says in which order events must arrive: see in-order.ts. Peers guarantee no order. */
  readonly order?: ReadonlyMap<string, string>;
}

/** Stores the backlog in a database or a Redis of the contestant. */
export type Contestant = (scope: AsyncDisposableStack, backlog: Backlog) => Promise<LoadedContestant>;

/**
 * Events per second, from the end of the warm-up until all events arrived and their outcomes were stored. So neither the
 * start-up time of a contestant counts nor its first poll for work.
 */
export async function drainRate(
  scope: AsyncDisposableStack,
  receiver: Receiver,
  { contestant, backlog }: { readonly contestant: Contestant; readonly backlog: Backlog },
): Promise<number> {
  await receiver.clear();
  const ready = await contestant(scope, backlog);
  try {
    const arriving = receiver.expect(totalOf(backlog));
    const [doneAt, arrivals] = await Promise.all([ready.drain(arriving), arriving]);
    const { order } = ready;
    if (order !== undefined) {
      const texts = arrivals.map(([id]) => order.get(id));
      assertInOrder('the webhooks', texts);
    }
    const [, warmAt] = arrivals[backlog.warmUpEvents - 1] ?? ['', Number.NaN];
    return backlog.measuredEvents / ((doneAt - warmAt) / 1000);
  } finally {
    await ready.stop();
  }
}

/** Bare requests, without any storage. */
export const bare: Contestant = async (scope, backlog) =>
  startContestant(scope, new URL('./webhooks-bare.ts', import.meta.url), workFor(backlog, ''));

/** BullMQ on a new Redis each time. */
export const bullmq: Contestant = async (scope, backlog) => {
  const redis = await startRedis(scope);
  const file = new URL('./webhooks-bullmq.ts', import.meta.url);
  const ready = await startContestant(scope, file, workFor(backlog, redis.socket));
  return {
    drain: ready.drain,
    async stop() {
      await ready.stop();
      await redis.stop();
    },
  };
};

/** A job queue on a new database each time. */
export function onPostgres(databases: Databases, file: URL): Contestant {
  return async (scope, backlog) => {
    const store = await databases.createEmpty('peer');
    const ready = await startContestant(scope, file, workFor(backlog, store));
    await vacuumAndCheckpoint(store);
    return ready;
  };
}

function workFor(backlog: Backlog, store: string): Work {
  return { store, target: backlog.target, count: totalOf(backlog), concurrency };
}

async function startContestant(scope: AsyncDisposableStack, file: URL, work: Work): Promise<LoadedContestant> {
  const peer = startPeer(scope, file);
  const request: PeerRequest = { kind: 'fill', work };
  await ask(peer, request);
  return {
    drain: async () => ask<number>(peer, { kind: 'drain' } satisfies PeerRequest),
    stop: async () => end(peer),
  };
}
