import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inClock, inUnits } from './duration.ts';

test('what has lasted is told as a clock has it', () => {
  assert.deepEqual([0, 42, 60, 3_599, 3_723, 90_000].map(inClock), ['0:00', '0:42', '1:00', '59:59', '1:02:03', '25:00:00']); // prettier-ignore
});

test('what is set or still to come is told by its two largest units', () => {
  assert.deepEqual([0, 45, 60, 5_400, 90_061, 345_600].map(inUnits), ['0 s', '45 s', '1 min', '1 h 30 min', '1 d 1 h', '4 d']); // prettier-ignore
});
