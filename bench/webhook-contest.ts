import { maxPerDestination } from '../packages/server/src/webhooks/dispatcher/transport.ts';
import { end, ask, startPeer } from './processes.ts';
import { settle, type Databases } from './databases.ts';
import { assertInOrder } from './in-order.ts';
import type { Size } from './lab.ts';
import { startRedis } from './redis.ts';
import type { PeerQuestion } from './webhook-peer.ts';
import type { Receiver } from './webhook-receiver.ts';
import type { Work } from './webhook-post.ts';

/** Events for an address. Those of a round come after others, by which a process that has just started gets warm. */
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

/** Requests at a time, of all contestants alike. */
const concurrency = maxPerDestination;

/** A contestant with its work before it. */
export interface Ready {
  /** Does it; answers when nothing was left to be done. `arrived` resolves when everything has arrived. */
  readonly drain: (arrived: Promise<unknown>) => Promise<number>;
  readonly stop: () => Promise<void>;
  /** By the id of an event, what tells the order in which it must arrive: see in-order.ts. Peers promise no order. */
  readonly order?: ReadonlyMap<string, string>;
}

/** Finds a place for the backlog and puts it there. */
export type Contestant = (scope: AsyncDisposableStack, backlog: Backlog) => Promise<Ready>;

/**
 * Events a second, from when it was warm until all had arrived and nothing was left to be written about them. So neither how
 * long a contestant takes to start counts, nor how soon it looks for work.
 */
export async function drainRate(
  scope: AsyncDisposableStack,
  receiver: Receiver,
  { contestant, backlog }: { readonly contestant: Contestant; readonly backlog: Backlog },
): Promise<number> {
  await receiver.forget();
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

/** Bare requests: nothing is stored. */
export const bare: Contestant = async (scope, backlog) =>
  startContestant(scope, new URL('./webhooks-bare.ts', import.meta.url), workFor(backlog, ''));

/** With a Redis of its own, a new one each time. */
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

/** With a database of its own, a new one each time. */
export function onPostgres(databases: Databases, file: URL): Contestant {
  return async (scope, backlog) => {
    const store = await databases.empty('peer');
    const ready = await startContestant(scope, file, workFor(backlog, store));
    await settle(store);
    return ready;
  };
}

function workFor(backlog: Backlog, store: string): Work {
  return { store, target: backlog.target, count: totalOf(backlog), concurrency };
}

async function startContestant(scope: AsyncDisposableStack, file: URL, work: Work): Promise<Ready> {
  const peer = startPeer(scope, file);
  const question: PeerQuestion = { kind: 'fill', work };
  await ask(peer, question);
  return {
    drain: async () => ask<number>(peer, { kind: 'drain' } satisfies PeerQuestion),
    stop: async () => end(peer),
  };
}
