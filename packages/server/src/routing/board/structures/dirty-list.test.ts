import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DirtyList, ChangeList } from './dirty-list.ts';

const items = () => Array.from({ length: 8 }, (_, id) => ({ id, dirtyIn: null, changedIn: null }));
const change = fc.record({ which: fc.nat({ max: 7 }), what: fc.constantFrom('add', 'add', 'add', 'delete', 'clear') });

test('a dirty list behaves like a set: each item once, however often it is added and deleted', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const all = items();
      const marked = new DirtyList<(typeof all)[number]>();
      const set = new Set<number>();
      for (const { which, what } of changes) {
        const item = all[which];
        assert(item !== undefined);
        if (what === 'clear') marked.clear();
        else marked[what](item);
        if (what === 'clear') set.clear();
        else set[what](which);
        const found = Array.from(marked, ({ id }) => id);
        assert.deepEqual([found.length, new Set(found), marked.size], [set.size, set, set.size]);
        assert.equal(marked.first()?.id, found[0]);
      }
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('a change list has each item once, in the order of the first change, and the next list starts empty', () => {
  const [one, two] = items();
  assert(one !== undefined && two !== undefined);
  const [first, second] = [new ChangeList<typeof one>(), new ChangeList<typeof one>()];
  for (const item of [two, one, two]) first.add(item);
  second.add(one);
  assert.deepEqual([[...first], [...second], first.size], [[two, one], [one], 2]);
});
