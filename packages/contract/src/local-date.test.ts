import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateIn, yearFrom } from './local-date.ts';

test('a date is that of the time zone', () => {
  const now = Date.parse('2028-02-28T23:30:00Z');
  assert.equal(dateIn('Europe/Tallinn', now), '2028-02-29');
  assert.equal(dateIn('America/New_York', now), '2028-02-28');
  assert.throws(() => dateIn('Mars/Olympus', now), RangeError);
});

test('a year ends on the same date, or on the last day of February', () => {
  assert.deepEqual(yearFrom('2026-11-17'), { from: '2026-11-17', to: '2027-11-17' });
  assert.deepEqual(yearFrom('2028-02-29'), { from: '2028-02-29', to: '2029-02-28' });
});
