import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastRank } from '@usher/contract/limits';
import fc from 'fast-check';
import { appendRank, sortByRank, moveRank, rankChanges, withRank } from './ranks.ts';

const ranked = (...ranks: number[]) => ranks.map((rank, index) => ({ id: String.fromCodePoint(97 + index), rank }));
const shown = (ranks: readonly { id: string; rank: number }[]) => ranks.map(({ id, rank }) => `${id}${rank}`).join(' ');

test('a moved operator gets a free rank between the neighbours, or the following ranks increase', () => {
  assert.equal(shown(moveRank(ranked(1, 2, 3), 2, 0)), 'c1 a2 b3');
  assert.equal(shown(moveRank(ranked(1, 2, 3), 0, 2)), 'b2 c3 a4');
  assert.equal(shown(moveRank(ranked(1, 5, 6), 2, 1)), 'a1 c2 b5');
  assert.equal(shown(moveRank(ranked(1, 2, 2), 2, 1)), 'a1 c2 b3');
  assert.equal(shown(moveRank(ranked(1, 2), 1, 1)), 'a1 b2');
});

test('every move results in the intended order and in valid ranks', () => {
  const list = fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 15 });
  fc.assert(
    fc.property(list, fc.nat(), fc.nat(), (ranks, a, b) => {
      const before = sortByRank(ranked(...ranks));
      const [from, to] = [a % before.length, b % before.length];
      const after = moveRank(before, from, to);
      assert.equal(after.length, before.length);
      assert.ok(after.every(({ rank }) => rank >= 1 && rank <= lastRank));
      assert.deepEqual(sortByRank(after), after);
      assert.equal(after[to]?.id, before[from]?.id);
    }),
  );
});

test('only changed ranks are sent, with null for removed operators', () => {
  const before = ranked(1, 2, 3);
  assert.deepEqual(rankChanges(before, before), []);
  assert.deepEqual(rankChanges(before, appendRank(withRank(before.slice(0, 2), 'a', 4), 'z')), [
    { id: 'a', rank: 4 },
    { id: 'z', rank: 5 },
    { id: 'c', rank: null },
  ]);
  assert.equal(appendRank(ranked(10), 'x').at(-1)?.rank, 10);
});
