import assert from 'node:assert/strict';
import { test } from 'node:test';
import { welcomeFaults } from '@usher/contract/response-card';
import fc from 'fast-check';
import { cardIn, textOf } from './card.ts';

test('a card goes to JSON and back; with options it is one the server takes', () => {
  const option = fc.record({ text: fc.string(), value: fc.string() }, { noNullPrototype: true });
  const card = fc.record(
    { content: fc.string(), image_url: fc.string(), options: fc.array(option, { minLength: 1 }) },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(card, (given) => {
      assert.deepEqual(cardIn(textOf(given)), given);
      assert.deepEqual(welcomeFaults(textOf(given)), []);
    }),
  );
  assert.deepEqual(cardIn(textOf({ content: 'Hi', image_url: '', options: [] })), {
    content: 'Hi',
    image_url: '',
    options: [],
  });
});

test('plain text is no card, and of a broken one what can be used is kept', () => {
  assert.equal(cardIn('Hello'), null);
  assert.equal(cardIn('[1]'), null);
  assert.deepEqual(cardIn('{"content":5,"attachment":{"options":[{"text":"Yes","value":"y"},{"text":1}]}}'), {
    content: '',
    image_url: '',
    options: [{ text: 'Yes', value: 'y' }],
  });
});
