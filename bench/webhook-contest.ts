import { mostToDestination } from '../packages/server/src/webhooks/dispatcher/courier.ts';
import { end, ask, startPeer } from './processes.ts';
import { settle, type Databases } from './databases.ts';
import { startRedis } from './redis.ts';
import type { PeerQuestion } from './webhook-peer.ts';
import type { Receiver } from './webhook-receiver.ts';
import type { Work } from './webhook-post.ts';

/** Events of a round; before them come others, by which a process that has just started gets warm. */
const measuredEvents = 10_000;
const warmUpEvents = 2_000;
export const totalEvents = warmUpEvents + measuredEvents;
/** Requests at a time, of all contestants alike. */
const concurrency = mostToDestination;

/** A contestant with its work before it. */
export interface Ready {
  /** Does it; answers when nothing was left to be done. `arrived` resolves when everything has arrived. */
  readonly drain: (arrived: Promise<unknown>) => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Finds a place for the work and puts it there: `totalEvents` for that address. */
export type Contestant = (scope: AsyncDisposableStack, target: string) => Promise<Ready>;

/**
 * Events a second, from when it was warm until all had arrived and nothing was left to be written about them. So neither how
 * long a contestant takes to start counts, nor how soon it looks for work.
 */
export async function drainRate(
  scope: AsyncDisposableStack,
  receiver: Receiver,
  { contestant, target }: { readonly contestant: Contestant; readonly target: string },
): Promise<number> {
  await receiver.forget();
  const ready = await contestant(scope, target);
  try {
    const arriving = receiver.expect(totalEvents);
    const [doneAt, arrivals] = await Promise.all([ready.drain(arriving), arriving]);
    const [, warmAt] = arrivals[warmUpEvents - 1] ?? ['', Number.NaN];
    return measuredEvents / ((doneAt - warmAt) / 1000);
  } finally {
    await ready.stop();
  }
}

/** Bare requests: nothing is stored. */
export const bare: Contestant = async (scope, target) =>
  startContestant(scope, new URL('./webhooks-bare.ts', import.meta.url), workFor(target, ''));

/** With a Redis of its own, a new one each time. */
export const bullmq: Contestant = async (scope, target) => {
  const redis = await startRedis(scope);
  const file = new URL('./webhooks-bullmq.ts', import.meta.url);
  const ready = await startContestant(scope, file, workFor(target, redis.socket));
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
  return async (scope, target) => {
    const store = await databases.fresh('peer');
    const ready = await startContestant(scope, file, workFor(target, store));
    await settle(store);
    return ready;
  };
}

function workFor(target: string, store: string): Work {
  return { store, target, count: totalEvents, concurrency };
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
