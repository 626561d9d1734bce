import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastRank } from '@usher/contract/limits';
import fc from 'fast-check';
import { added, inOrder, moveTo, rankChanges, withRank } from './ranks.ts';

const ranked = (...ranks: number[]) => ranks.map((rank, index) => ({ id: String.fromCodePoint(97 + index), rank }));
const shown = (ranks: readonly { id: string; rank: number }[]) => ranks.map(({ id, rank }) => `${id}${rank}`).join(' ');

test('one that is moved takes a free rank between its neighbours, or those behind move on', () => {
  assert.equal(shown(moveTo(ranked(1, 2, 3), 2, 0)), 'c1 a2 b3');
  assert.equal(shown(moveTo(ranked(1, 2, 3), 0, 2)), 'b2 c3 a4');
  assert.equal(shown(moveTo(ranked(1, 5, 6), 2, 1)), 'a1 c2 b5');
  assert.equal(shown(moveTo(ranked(1, 2, 2), 2, 1)), 'a1 c2 b3');
  assert.equal(shown(moveTo(ranked(1, 2), 1, 1)), 'a1 b2');
});

test('wherever one is moved, the order is the one that was wanted and every rank is one', () => {
  const list = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 15 });
  fc.assert(
    fc.property(list, fc.nat(), fc.nat(), (ranks, a, b) => {
      const before = inOrder(ranked(...ranks));
      const [from, to] = [a % before.length, b % before.length];
      const after = moveTo(before, from, to);
      assert.equal(after.length, before.length);
      assert.ok(after.every(({ rank }) => rank >= 1 && rank <= lastRank));
      assert.deepEqual(inOrder(after), after);
      assert.equal(after[to]?.id, before[from]?.id);
    }),
  );
});

test('says only what has changed, null for those taken out', () => {
  const before = ranked(1, 2, 3);
  assert.deepEqual(rankChanges(before, before), []);
  assert.deepEqual(rankChanges(before, added(withRank(before.slice(0, 2), 'a', 4), 'z')), [
    { id: 'a', rank: 4 },
    { id: 'z', rank: 5 },
    { id: 'c', rank: null },
  ]);
  assert.equal(added(ranked(10), 'x').at(-1)?.rank, 10);
});
