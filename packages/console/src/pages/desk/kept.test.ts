import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Keeper, nothingKept } from './kept.ts';

function shelf(): {
  map: Map<string, string>;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
} {
  const map = new Map<string, string>();
  return {
    map,
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
  };
}

test('keeps what was typed by operator and conversation, and nothing when there is nothing', () => {
  const own = shelf();
  const keeper = new Keeper(own, 'me');
  keeper.keep('chat', { draft: 'Dear' });
  keeper.keep('chat', { dismissedFiles: ['f'] });
  assert.deepEqual(new Keeper(own, 'me').of('chat'), { ...nothingKept, draft: 'Dear', dismissedFiles: ['f'] });
  assert.deepEqual(new Keeper(own, 'you').of('chat'), nothingKept);
  keeper.keep('chat', nothingKept);
  assert.equal(own.map.size, 0);
});

test('what cannot be read is nothing; what cannot be written is no failure', () => {
  const own = shelf();
  own.map.set('usher-desk me chat', '{');
  own.map.set('usher-desk me', '"no list"');
  const keeper = new Keeper(own, 'me');
  assert.deepEqual(keeper.of('chat'), nothingKept);
  assert.deepEqual(keeper.onDesk, []);
  const full = new Keeper(
    {
      ...shelf(),
      setItem: () => {
        throw new Error('full');
      },
    },
    'me',
  );
  full.keep('chat', { draft: 'Dear' });
  assert.equal(full.of('chat').draft, '');
});
