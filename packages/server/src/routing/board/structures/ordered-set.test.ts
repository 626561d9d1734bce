import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OrderedSet } from './ordered-set.ts';

const change = fc.record({ item: fc.nat({ max: 60 }), add: fc.boolean() });

test('an ordered set behaves like a sorted list without duplicates', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 300, size: 'max' }), (changes) => {
      const set = new OrderedSet<number>((a, b) => a - b);
      let list: number[] = [];
      for (const { item, add } of changes) {
        const was = list.includes(item);
        if (!add) {
          assert.equal(set.delete(item), was);
          list = list.filter((each) => each !== item);
        } else if (was) {
          assert.throws(() => set.add(item), /already/);
        } else {
          set.add(item);
          list = [...list, item].toSorted((a, b) => a - b);
        }
        assert.equal(set.size, list.length);
        assert.equal(set.first(), list[0]);
        assert.equal(set.firstWhere((each) => each % 7 === 3), list.find((each) => each % 7 === 3)); // prettier-ignore
      }
      assert.deepEqual([...set], list);
      assert.deepEqual(Array.from(list, (item) => set.rank(item)), [...list.keys()]); // prettier-ignore
    }),
    { numRuns: 200, seed: 1 },
  );
});

test('the rank of an item that is not in the set throws', () => {
  assert.throws(() => new OrderedSet<number>((a, b) => a - b).rank(1), /not in the set/);
});

test('100,000 items added in order stay fast: the tree does not degenerate', () => {
  const set = new OrderedSet<number>((a, b) => a - b);
  const began = performance.now();
  for (let item = 0; item < 100_000; item += 1) set.add(item);
  for (let item = 0; item < 100_000; item += 1) {
    assert.equal(set.rank(99_999), 99_999 - item);
    set.delete(item);
  }
  assert(performance.now() - began < 5_000);
});
