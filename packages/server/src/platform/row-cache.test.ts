import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeFeed } from './change-feed.ts';
import { RowCache } from './row-cache.ts';

/** A feed that says what the test makes it say. */
function fakeFeed(): ChangeFeed & { tell(id: string): void; reset(): void; live: boolean } {
  const heard: ((id: string) => void)[] = [];
  const resets: (() => void)[] = [];
  return {
    live: true,
    on: (_table, listener) => void heard.push(listener),
    onReset: (forget) => void resets.push(forget),
    settled: async () => undefined,
    close: async () => undefined,
    tell: (id) => heard.forEach((listener) => listener(id)),
    reset: () => resets.forEach((forget) => forget()),
  };
}

function counted(feed: ChangeFeed, limit = 10): { cache: RowCache<string | null>; loads: string[] } {
  const loads: string[] = [];
  const load = async (key: string): Promise<string | null> => {
    loads.push(key);
    return key === 'none' ? null : `row ${key}`;
  };
  return { cache: new RowCache({ feed, tables: ['rows'], limit, load }), loads };
}

test('a row is read once, until it changes; so is the absence of one', async () => {
  const feed = fakeFeed();
  const { cache, loads } = counted(feed);
  for (const key of ['a', 'a', 'none', 'none']) await cache.get(key);
  assert.deepEqual(loads, ['a', 'none']);
  feed.tell('a');
  assert.equal(cache.peek('a'), undefined);
  assert.equal(await cache.get('a'), 'row a');
  assert.deepEqual(loads, ['a', 'none', 'a']);
});

test('a row that changes while it is being read is answered but not kept', async () => {
  const feed = fakeFeed();
  const { cache, loads } = counted(feed);
  const reading = cache.get('a');
  feed.tell('a');
  assert.equal(await reading, 'row a');
  assert.equal(cache.peek('a'), undefined);
  await cache.get('a');
  assert.deepEqual(loads, ['a', 'a']);
});

test('while the feed is deaf nothing held is used and nothing read is kept; a reset forgets all', async () => {
  const feed = fakeFeed();
  const { cache, loads } = counted(feed);
  await cache.get('a');
  feed.live = false;
  await cache.get('a');
  await cache.get('b');
  feed.reset();
  feed.live = true;
  await cache.get('a');
  await cache.get('b');
  assert.deepEqual(loads, ['a', 'a', 'b', 'a', 'b']);
});

test('no more rows are held than the limit: the first in is the first out', async () => {
  const { cache } = counted(fakeFeed(), 2);
  for (const key of ['a', 'b', 'c']) await cache.get(key);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.peek(key)),
    [undefined, 'row b', 'row c'],
  );
});
