import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fallbackLoop, fallbackPath } from './fallbacks.ts';

const queues = (links: Readonly<Record<string, string | null>>) =>
  new Map(Object.entries(links).map(([id, fallback_queue_id]) => [id, { id, fallback_queue_id }]));

test('a fallback path is followed to its end, also if its last queue is not visible', () => {
  const byId = queues({ a: 'b', b: 'c', c: null, x: 'hidden' });
  assert.deepEqual(fallbackPath('a', byId), ['a', 'b', 'c']);
  assert.deepEqual(fallbackPath('x', byId), ['x', 'hidden']);
  assert.deepEqual(fallbackPath(null, byId), []);
});

test('a fallback loop is reported with its path, which begins and ends with the queue', () => {
  const byId = queues({ a: 'b', b: 'c', c: null });
  assert.deepEqual(fallbackLoop('c', 'a', byId), ['c', 'a', 'b', 'c']);
  assert.deepEqual(fallbackLoop('a', 'a', byId), ['a', 'a']);
  assert.equal(fallbackLoop('a', 'c', byId), null);
  assert.equal(fallbackLoop('a', null, byId), null);
});

test('a loop that does not include the queue ends the path and is not reported', () => {
  const byId = queues({ a: null, b: 'c', c: 'b' });
  assert.deepEqual(fallbackPath('b', byId), ['b', 'c', 'b']);
  assert.equal(fallbackLoop('a', 'b', byId), null);
});
