import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inUnits } from './status-words.ts';

test('lengths of time are told by their two largest units', () => {
  assert.deepEqual([0, 45, 60, 5_400, 90_061, 345_600].map(inUnits), [
    '0 s',
    '45 s',
    '1 min',
    '1 h 30 min',
    '1 d 1 h',
    '4 d',
  ]);
});
