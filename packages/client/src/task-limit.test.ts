import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskLimit } from './task-limit.ts';

test('tasks run in order, at most two at a time, also after one fails', async () => {
  const limit = new TaskLimit(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const task = async (number: number): Promise<void> => {
    begun.push(number);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (number === 1) throw new Error('failed');
  };
  const all = [0, 1, 2, 3, 4].map(async (number) => limit.run(async () => task(number)));
  const results = await Promise.allSettled(all);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual([begun, most], [[0, 1, 2, 3, 4], 2]);
});
