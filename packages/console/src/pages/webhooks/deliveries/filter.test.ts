import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filtersOf, searchParamsOf, instantOf, isUuid, localOf, noFilters, queryOf } from './filter.ts';

test('filters are stored in the URL and converted to the query of the API', () => {
  const filters = { ...noFilters, state: 'held', since: '2027-01-31T09:00' };
  assert.deepEqual(filtersOf(new URLSearchParams(searchParamsOf(filters))), filters);
  assert.deepEqual(queryOf(filters), { state: 'held', since: new Date('2027-01-31T09:00').toISOString() });
  assert.deepEqual(queryOf(noFilters), {});
});

test('a local time is converted to an instant and back, and an invalid time is left unchanged', () => {
  assert.equal(localOf(new Date('2027-01-05T09:07')), '2027-01-05T09:07');
  assert.equal(instantOf('nonsense'), 'nonsense');
});

test('only a complete id is accepted', () => {
  assert.ok(isUuid('5B0C3D1E-7f5a-4a54-9d0e-2f6f6c1b7a01'));
  assert.ok(!isUuid('5b0c3d1e-7f5a'));
});
