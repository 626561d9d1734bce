import { setTimeout as sleep } from 'node:timers/promises';

export interface Rate {
  readonly count: number;
  readonly perSecond: number;
}

/**
 * Acts `count` times at a steady rate, with one lane after the other. A lane acts once at a time: a lane that has not finished acts
 * late. Resolves when all have finished.
 */
export async function actAtRate<Lane>(
  lanes: readonly Lane[],
  { count, perSecond }: Rate,
  act: (lane: Lane) => Promise<void>,
): Promise<void> {
  const queued = lanes.map((lane) => ({ lane, finished: Promise.resolve() }));
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, began + (n * 1000) / perSecond - performance.now()));
    const next = queued[n % queued.length];
    if (next === undefined) throw new Error('there are no lanes');
    next.finished = next.finished.then(async () => act(next.lane));
  }
  await Promise.all(queued.map(async ({ finished }) => finished));
}
