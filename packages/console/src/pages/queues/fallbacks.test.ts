import assert from 'node:assert/strict';
import { test } from 'node:test';
import { circleOf, pathFrom } from './fallbacks.ts';

const queues = (links: Readonly<Record<string, string | null>>) =>
  new Map(Object.entries(links).map(([id, fallback_queue_id]) => [id, { id, fallback_queue_id }]));

test('a chain is followed to its end, also over queues that are not known', () => {
  const known = queues({ a: 'b', b: 'c', c: null, x: 'hidden' });
  assert.deepEqual(pathFrom('a', known), ['a', 'b', 'c']);
  assert.deepEqual(pathFrom('x', known), ['x', 'hidden']);
  assert.deepEqual(pathFrom(null, known), []);
});

test('a circle is told with its path, the queue itself first and last', () => {
  const known = queues({ a: 'b', b: 'c', c: null });
  assert.deepEqual(circleOf('c', 'a', known), ['c', 'a', 'b', 'c']);
  assert.deepEqual(circleOf('a', 'a', known), ['a', 'a']);
  assert.equal(circleOf('a', 'c', known), null);
  assert.equal(circleOf('a', null, known), null);
});

test('a circle that the queue is no part of hangs nothing, and is not its own', () => {
  const known = queues({ a: null, b: 'c', c: 'b' });
  assert.deepEqual(pathFrom('b', known), ['b', 'c', 'b']);
  assert.equal(circleOf('a', 'b', known), null);
});
