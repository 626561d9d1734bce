import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { welcomeMessageViolations } from '../../../../server/src/queues/welcome-message.ts';
import { cardIn, longestBytes, textOf, welcomeFaults } from './card.ts';

const near = fc.record(
  {
    content: fc.oneof(fc.string(), fc.constant(null)),
    attachment: fc.oneof(
      fc.constant(null),
      fc.array(fc.string()),
      fc.record(
        {
          type: fc.constantFrom('single_choice', 'files'),
          image_url: fc.oneof(fc.string(), fc.constant(null)),
          options: fc.array(
            fc.record({ text: fc.string(), value: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] }),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: [] },
);

test('the console says of a welcome message what the server says', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.json(),
    near.map((card) => JSON.stringify(card)),
    fc.constantFrom('a'.repeat(longestBytes), 'a'.repeat(longestBytes + 1), 'é'.repeat(longestBytes / 2 + 1), '\ud800'),
  );
  fc.assert(
    fc.property(text, (given) => {
      assert.deepEqual(
        welcomeFaults(given),
        welcomeMessageViolations(given).map(({ detail }) => detail),
      );
    }),
    { numRuns: 3_000 },
  );
});

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
