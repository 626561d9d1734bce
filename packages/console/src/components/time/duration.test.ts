import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatClock, formatDuration } from './duration.ts';

test('an elapsed time is formatted like a clock', () => {
  assert.deepEqual([0, 42, 60, 3_599, 3_723, 90_000].map(formatClock), ['0:00', '0:42', '1:00', '59:59', '1:02:03', '25:00:00']); // prettier-ignore
});

test('a duration is formatted with its two largest units', () => {
  assert.deepEqual([0, 45, 60, 5_400, 90_061, 345_600].map(formatDuration), ['0 s', '45 s', '1 min', '1 h 30 min', '1 d 1 h', '4 d']); // prettier-ignore
});
