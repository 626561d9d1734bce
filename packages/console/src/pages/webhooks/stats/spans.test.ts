import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spans, spanUntil, sumOf } from './spans.ts';

test('a period ends with the current interval and stays the same until the next one', () => {
  const now = Date.parse('2027-01-31T09:07:12Z');
  const minute = 60_000;
  const period = spanUntil(now, 60 * minute, minute);
  assert.deepEqual(period, { from: '2027-01-31T08:08:00.000Z', to: '2027-01-31T09:08:00.000Z' });
  assert.deepEqual(spanUntil(now + 40_000, 60 * minute, minute), period);
  assert.notDeepEqual(spanUntil(now + 60_000, 60 * minute, minute), period);
});

test('no period exceeds the limits of the server for intervals and for age', () => {
  for (const { ms, stepSec } of Object.values(spans)) {
    assert.ok(ms / stepSec / 1_000 <= 400);
    assert.ok(ms <= 7 * 86_400_000);
  }
});

test('the numbers of all intervals are added up', () => {
  const step = { delivered: 1, failed: 2, given_up: 3 };
  assert.deepEqual(sumOf([step, step]), { delivered: 2, failed: 4, given_up: 6 });
  assert.deepEqual(sumOf([]), { delivered: 0, failed: 0, given_up: 0 });
});
