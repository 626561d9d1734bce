import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outgoing } from './conversation.ts';
import { ConversationStorage, nothingStored } from './conversation-storage.ts';

function fakeStorage(): {
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

test('drafts are stored by operator and conversation, and an empty draft is removed', () => {
  const own = fakeStorage();
  const storage = new ConversationStorage(own, 'me');
  storage.update('chat', { draft: 'Dear' });
  storage.update('chat', { dismissedFiles: ['f'] });
  assert.deepEqual(new ConversationStorage(own, 'me').read('chat'), {
    ...nothingStored,
    draft: 'Dear',
    dismissedFiles: ['f'],
  });
  assert.deepEqual(new ConversationStorage(own, 'you').read('chat'), nothingStored);
  storage.update('chat', nothingStored);
  assert.equal(own.map.size, 0);
});

test('two pages store their unsent messages side by side and remove only their own', () => {
  const own = fakeStorage();
  const [firstPage, secondPage] = [new ConversationStorage(own, 'me'), new ConversationStorage(own, 'me')];
  const message = (id: string, state: Outgoing['state'] = 'sending'): Outgoing => ({
    id,
    content: '',
    attachment: null,
    at: '2026-01-01T00:00:00Z',
    state,
    problem: null,
  });
  const storedIds = (): string[] => firstPage.read('chat').unsent.map(({ id }) => id);
  firstPage.updateUnsent('chat', [], [message('a')]);
  secondPage.updateUnsent('chat', [], [message('b')]);
  assert.deepEqual(storedIds(), ['a', 'b']);
  firstPage.updateUnsent('chat', [message('a')], [message('a', 'sent')]);
  assert.deepEqual(storedIds(), ['b']);
  secondPage.updateUnsent('chat', [message('b')], []);
  assert.deepEqual(firstPage.read('chat'), nothingStored);
});

test('invalid stored data is ignored, and a full storage is tolerated', () => {
  const own = fakeStorage();
  own.map.set('usher-desk me chat', '{');
  own.map.set('usher-desk me', '"no list"');
  const storage = new ConversationStorage(own, 'me');
  assert.deepEqual(storage.read('chat'), nothingStored);
  assert.deepEqual(storage.onDesk, []);
  const full = new ConversationStorage(
    {
      ...fakeStorage(),
      setItem: () => {
        throw new Error('full');
      },
    },
    'me',
  );
  full.update('chat', { draft: 'Dear' });
  assert.equal(full.read('chat').draft, '');
});
