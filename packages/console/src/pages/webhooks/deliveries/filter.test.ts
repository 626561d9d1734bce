import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersIn, inAddress, instantOf, isUuid, localOf, noFilters, queryOf } from './filter.ts';

test('filters stand in the address, and are asked for as the API has them', () => {
  const filters = { ...noFilters, state: 'held', since: '2027-01-31T09:00' };
  assert.deepEqual(filtersIn(new URLSearchParams(inAddress(filters))), filters);
  assert.deepEqual(queryOf(filters), { state: 'held', since: new Date('2027-01-31T09:00').toISOString() });
  assert.deepEqual(queryOf(noFilters), {});
});

test('a time of the reader’s clock goes both ways; what is none stays as it is', () => {
  assert.equal(localOf(new Date('2027-01-05T09:07')), '2027-01-05T09:07');
  assert.equal(instantOf('nonsense'), 'nonsense');
});

test('an id is whole or none', () => {
  assert.ok(isUuid('5B0C3D1E-7f5a-4a54-9d0e-2f6f6c1b7a01'));
  assert.ok(!isUuid('5b0c3d1e-7f5a'));
});
