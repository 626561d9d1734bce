import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

test('owners take turns, and the items of one owner stay in order', () => {
  const queue = new FairQueue<string, string>();
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) queue.push(item.slice(0, 1), item);
  assert.deepEqual(queue.take(4), ['a1', 'b1', 'c1', 'a2']);
  assert.equal(queue.size, 3);
  queue.push('b', 'b2');
  // The turn of `a` was the last one.
  assert.deepEqual(queue.take(10), ['c2', 'a3', 'b2', 'a4']);
  assert.deepEqual([queue.take(10), queue.size], [[], 0]);
});
