import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowChanges } from './row-changes.ts';
import { RowCache } from './row-cache.ts';

/** A row-change channel that the test controls. */
function fakeChanges(): RowChanges & { announce(id: string): void; reset(): void; live: boolean } {
  const listeners: ((id: string) => void)[] = [];
  const resets: (() => void)[] = [];
  return {
    live: true,
    numbers: { lagMs: 0, reconnects: 0, notifications: 0 },
    on: (_table, listener) => void listeners.push(listener),
    onReset: (clear) => void resets.push(clear),
    caughtUp: async () => undefined,
    close: async () => undefined,
    announce: (id) => listeners.forEach((listener) => listener(id)),
    reset: () => resets.forEach((clear) => clear()),
  };
}

function counted(changes: RowChanges, limit = 10): { cache: RowCache<string | null>; loads: string[] } {
  const loads: string[] = [];
  const load = async (key: string): Promise<string | null> => {
    loads.push(key);
    return key === 'none' ? null : `row ${key}`;
  };
  return { cache: new RowCache({ changes, tables: ['rows'], limit, load }), loads };
}

test('a row, or its absence, is read once and cached until the row changes', async () => {
  const changes = fakeChanges();
  const { cache, loads } = counted(changes);
  for (const key of ['a', 'a', 'none', 'none']) await cache.get(key);
  assert.deepEqual(loads, ['a', 'none']);
  changes.announce('a');
  assert.equal(cache.peek('a'), undefined);
  assert.equal(await cache.get('a'), 'row a');
  assert.deepEqual(loads, ['a', 'none', 'a']);
});

test('a row that changes while it is being read is returned but not cached', async () => {
  const changes = fakeChanges();
  const { cache, loads } = counted(changes);
  const reading = cache.get('a');
  changes.announce('a');
  assert.equal(await reading, 'row a');
  assert.equal(cache.peek('a'), undefined);
  await cache.get('a');
  assert.deepEqual(loads, ['a', 'a']);
});

test('while the channel is deaf the cache is neither read nor filled; a reset clears the cache', async () => {
  const changes = fakeChanges();
  const { cache, loads } = counted(changes);
  await cache.get('a');
  changes.live = false;
  await cache.get('a');
  await cache.get('b');
  changes.reset();
  changes.live = true;
  await cache.get('a');
  await cache.get('b');
  assert.deepEqual(loads, ['a', 'a', 'b', 'a', 'b']);
});

test('the cache never exceeds its limit: the oldest row is evicted first', async () => {
  const { cache } = counted(fakeChanges(), 2);
  for (const key of ['a', 'b', 'c']) await cache.get(key);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.peek(key)),
    [undefined, 'row b', 'row c'],
  );
});
