import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outgoing } from './conversation.ts';
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

test('of two pages each keeps its own messages, and takes away its own alone', () => {
  const own = shelf();
  const [here, there] = [new Keeper(own, 'me'), new Keeper(own, 'me')];
  const message = (id: string, state: Outgoing['state'] = 'sending'): Outgoing => ({
    id,
    content: '',
    attachment: null,
    at: '2026-01-01T00:00:00Z',
    state,
    problem: null,
  });
  const kept = (): string[] => here.of('chat').unsent.map(({ id }) => id);
  here.keepUnsent('chat', [], [message('a')]);
  there.keepUnsent('chat', [], [message('b')]);
  assert.deepEqual(kept(), ['a', 'b']);
  here.keepUnsent('chat', [message('a')], [message('a', 'sent')]);
  assert.deepEqual(kept(), ['b']);
  there.keepUnsent('chat', [message('b')], []);
  assert.deepEqual(here.of('chat'), nothingKept);
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
