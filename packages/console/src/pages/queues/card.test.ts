import assert from 'node:assert/strict';
import { test } from 'node:test';
import { welcomeFaults } from '@usher/contract/response-card';
import fc from 'fast-check';
import { cardIn, textOf } from './card.ts';

test('a card is converted to JSON and back, and the server accepts one with options', () => {
  const option = fc.record({ text: fc.string(), value: fc.string() }, { noNullPrototype: true });
  const card = fc.record(
    { content: fc.string(), image_url: fc.string(), options: fc.array(option, { minLength: 1 }) },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(card, (original) => {
      assert.deepEqual(cardIn(textOf(original)), original);
      assert.deepEqual(welcomeFaults(textOf(original)), []);
    }),
  );
  assert.deepEqual(cardIn(textOf({ content: 'Hi', image_url: '', options: [] })), {
    content: 'Hi',
    image_url: '',
    options: [],
  });
});

test('plain text is not a card, and the valid parts of an invalid card are kept', () => {
  assert.equal(cardIn('Hello'), null);
  assert.equal(cardIn('[1]'), null);
  assert.deepEqual(cardIn('{"content":5,"attachment":{"options":[{"text":"Yes","value":"y"},{"text":1}]}}'), {
    content: '',
    image_url: '',
    options: [{ text: 'Yes', value: 'y' }],
  });
});
