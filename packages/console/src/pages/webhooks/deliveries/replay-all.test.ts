import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxReplayed, replayAll, type ReplayProgress } from './replay-all.ts';

test('each delivery is replayed once, a few concurrently, and refusals are reported', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => String(index));
  const seen: string[] = [];
  const reports: ReplayProgress[] = [];
  let running = 0;
  let maxRunning = 0;
  const replay = async (id: string) => {
    seen.push(id);
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    await Promise.resolve();
    running -= 1;
    if (id === '7') throw new Error('no');
  };
  const end = await replayAll(ids, replay, (progress) => reports.push(progress));
  assert.deepEqual(seen.toSorted(), ids.toSorted());
  assert.ok(maxRunning <= 4 && maxRunning > 1);
  assert.deepEqual([end.done, end.failures.map(({ id }) => id)], [20, ['7']]);
  assert.deepEqual([reports[0]?.done, reports.at(-1)], [0, end]);
});

test('a selection has a maximum size', async () => {
  const ids = Array.from({ length: maxReplayed + 5 }, (_, index) => String(index));
  const { total, done } = await replayAll(ids, async () => undefined, () => undefined); // prettier-ignore
  assert.deepEqual([total, done], [maxReplayed, maxReplayed]);
});
