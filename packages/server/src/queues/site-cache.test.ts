import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteId } from '../platform/ids.ts';
import { SiteCache } from './site-cache.ts';

const idOf = (n: number): SiteId => `site ${n}` as SiteId;

function cached(cache: SiteCache<{ readonly weight: number }>, count: number): number[] {
  return Array.from({ length: count }, (_, n) => n).filter((n) => cache.get(idOf(n)) !== undefined);
}

test('the sites that were used last are cached, up to the limit', () => {
  const cache = new SiteCache<{ weight: number }>(8);
  for (const n of [0, 1, 2, 3]) cache.set(idOf(n), { weight: 1 });
  cache.get(idOf(0));
  cache.set(idOf(4), { weight: 1 });
  assert.deepEqual(cached(cache, 5), [0, 2, 3, 4]);
  cache.set(idOf(5), { weight: 100 });
  assert.deepEqual(cached(cache, 6), [5], 'a site larger than the limit is cached alone');
  cache.set(idOf(6), { weight: 1 });
  assert.deepEqual(cached(cache, 7), [6]);
});

test('a watched site is cached whatever else is, until its last watcher has gone', () => {
  const cache = new SiteCache<{ weight: number }>(4);
  cache.set(idOf(0), { weight: 1 });
  cache.watch(idOf(0));
  cache.watch(idOf(1));
  cache.watch(idOf(1));
  cache.set(idOf(1), { weight: 1_000 });
  for (const n of [2, 3, 4, 5]) cache.set(idOf(n), { weight: 1 });
  assert.deepEqual(cached(cache, 6), [0, 1, 4, 5]);
  cache.unwatch(idOf(1));
  assert.deepEqual(cached(cache, 6), [0, 1, 4, 5]);
  cache.unwatch(idOf(0));
  cache.unwatch(idOf(1));
  cache.set(idOf(6), { weight: 1 });
  cache.set(idOf(7), { weight: 1 });
  assert.deepEqual(cached(cache, 8), [6, 7]);
});

test('a cleared cache is empty, and sites stay watched', () => {
  const cache = new SiteCache<{ weight: number }>(2);
  cache.watch(idOf(0));
  cache.set(idOf(0), { weight: 1 });
  cache.set(idOf(1), { weight: 1 });
  cache.clear();
  assert.deepEqual(cached(cache, 2), []);
  for (const n of [0, 1, 2]) cache.set(idOf(n), { weight: 1 });
  assert.deepEqual(cached(cache, 3), [0, 2]);
});
