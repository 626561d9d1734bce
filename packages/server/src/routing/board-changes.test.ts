import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, type BoardChange } from './board-changes.ts';

const move = (version: number, previous: number | null = version - 1): BoardChange => ({
  version,
  previous,
  things: { tickets: [String(version)] },
});
const ids = (moves: ReturnType<typeof changesBetween>) => moves?.flatMap(({ tickets }) => tickets ?? []) ?? null;

test('consecutive moves lead from one version to another, also over a jump', () => {
  assert.deepEqual(ids(changesBetween([], { from: 4, to: 4 })), []);
  assert.deepEqual(ids(changesBetween([move(5), move(900, 5), move(901)], { from: 4, to: 901 })), ['5', '900', '901']);
  assert.deepEqual(ids(changesBetween([move(5, null)], { from: 4, to: 5 })), ['5']);
});

test('the changed rows are unknown with a gap, before the first move, after the last, or from a lost version', () => {
  assert.equal(changesBetween([], { from: 4, to: 5 }), null);
  assert.equal(changesBetween([move(6)], { from: 4, to: 6 }), null);
  assert.equal(changesBetween([move(5), move(7)], { from: 4, to: 7 }), null);
  assert.equal(changesBetween([move(5)], { from: 4, to: 6 }), null);
  assert.equal(changesBetween([], { from: 7, to: 5 }), null);
  // The backup had version 4. The reader saw 5 and 6, which are lost; the account continued from 4.
  assert.equal(changesBetween([move(900, 4)], { from: 6, to: 900 }), null);
});
