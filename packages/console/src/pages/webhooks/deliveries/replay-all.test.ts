import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostReplayed, replayAll, type ReplayProgress } from './replay-all.ts';

test('replays each once, a few at a time, and says which were refused', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => String(index));
  const seen: string[] = [];
  const told: ReplayProgress[] = [];
  let running = 0;
  let most = 0;
  const replay = async (id: string) => {
    seen.push(id);
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    if (id === '7') throw new Error('no');
  };
  const end = await replayAll(ids, replay, (progress) => told.push(progress));
  assert.deepEqual(seen.toSorted(), ids.toSorted());
  assert.ok(most <= 4 && most > 1);
  assert.deepEqual([end.done, end.failures.map(({ id }) => id)], [20, ['7']]);
  assert.deepEqual([told[0]?.done, told.at(-1)], [0, end]);
});

test('a selection is bounded', async () => {
  const ids = Array.from({ length: mostReplayed + 5 }, (_, index) => String(index));
  const { total, done } = await replayAll(ids, async () => undefined, () => undefined); // prettier-ignore
  assert.deepEqual([total, done], [mostReplayed, mostReplayed]);
});
