import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countOf, listOf, minus, plus, type Few } from './few.ts';

const items = Array.from({ length: 5 }, (_, id) => ({ id }));
const change = fc.record({ which: fc.nat({ max: items.length - 1 }), what: fc.constantFrom('plus', 'minus') });

test('a few items behave like a list to which each is added once, and one item needs no array', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      let few: Few<(typeof items)[number]> = null;
      let expected: typeof items = [];
      for (const { which, what } of changes) {
        const item = items[which];
        assert(item !== undefined);
        if (what === 'plus' && expected.includes(item)) continue;
        few = what === 'plus' ? plus(few, item) : minus(few, item);
        expected = what === 'plus' ? [...expected, item] : expected.filter((each) => each !== item);
        assert.deepEqual([listOf(few), countOf(few)], [expected, expected.length]);
        if (expected.length < 2) assert.equal(few, expected[0] ?? null);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});
