import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allFrom, differences, firstChoices, mergeVersions, same } from './versions.ts';

const base = { name: 'Sales', capacity: 3, teams: ['a'], note: '' };

test('values are the same by what they hold, not by the order of their fields', () => {
  assert.ok(same({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }));
  assert.ok(!same([1, 2], [2, 1]));
  assert.ok(!same({ a: 1 }, { a: 1, b: undefined, c: 2 }));
  assert.ok(!same([], {}));
  assert.ok(!same(null, {}));
});

test('says of each field that differs who has changed it', () => {
  const mine = { ...base, name: 'Mine', capacity: 4 };
  const theirs = { ...base, name: 'Theirs', teams: ['a', 'b'] };
  assert.deepEqual(differences(base, mine, theirs), [
    { key: 'name', changedBy: 'both' },
    { key: 'capacity', changedBy: 'me' },
    { key: 'teams', changedBy: 'them' },
  ]);
  assert.deepEqual(differences(base, { ...base, name: 'X' }, { ...base, name: 'X' }), []);
});

test('by itself keeps what either has changed alone; a choice turns each field', () => {
  const mine = { ...base, name: 'Mine', capacity: 4 };
  const theirs = { ...base, name: 'Theirs', teams: ['a', 'b'] };
  const found = differences(base, mine, theirs);
  const first = firstChoices(found);
  assert.deepEqual(mergeVersions(mine, theirs, first), { ...base, name: 'Mine', capacity: 4, teams: ['a', 'b'] });
  assert.deepEqual(mergeVersions(mine, theirs, { ...first, name: 'theirs' }).name, 'Theirs');
  assert.deepEqual(mergeVersions(mine, theirs, allFrom(found, 'theirs')), theirs);
  assert.deepEqual(mergeVersions(mine, theirs, allFrom(found, 'mine')), mine);
});
