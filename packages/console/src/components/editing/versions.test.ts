import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAll, differences, defaultChoices, mergeVersions, isEqual } from './versions.ts';

const base = { name: 'Sales', capacity: 3, teams: ['a'], note: '' };

test('objects with the same fields are equal, whatever the order of the fields', () => {
  assert.ok(isEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }));
  assert.ok(!isEqual([1, 2], [2, 1]));
  assert.ok(!isEqual({ a: 1 }, { a: 1, b: undefined, c: 2 }));
  assert.ok(!isEqual([], {}));
  assert.ok(!isEqual(null, {}));
});

test('each difference says who changed the field', () => {
  const mine = { ...base, name: 'Mine', capacity: 4 };
  const theirs = { ...base, name: 'Theirs', teams: ['a', 'b'] };
  assert.deepEqual(differences(base, mine, theirs), [
    { key: 'name', changedBy: 'both' },
    { key: 'capacity', changedBy: 'me' },
    { key: 'teams', changedBy: 'them' },
  ]);
  assert.deepEqual(differences(base, { ...base, name: 'X' }, { ...base, name: 'X' }), []);
});

test('by default the change of one side is kept, and each field can be chosen', () => {
  const mine = { ...base, name: 'Mine', capacity: 4 };
  const theirs = { ...base, name: 'Theirs', teams: ['a', 'b'] };
  const found = differences(base, mine, theirs);
  const first = defaultChoices(found);
  assert.deepEqual(mergeVersions(mine, theirs, first), { ...base, name: 'Mine', capacity: 4, teams: ['a', 'b'] });
  assert.deepEqual(mergeVersions(mine, theirs, { ...first, name: 'theirs' }).name, 'Theirs');
  assert.deepEqual(mergeVersions(mine, theirs, chooseAll(found, 'theirs')), theirs);
  assert.deepEqual(mergeVersions(mine, theirs, chooseAll(found, 'mine')), mine);
});
