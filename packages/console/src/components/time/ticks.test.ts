import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationTicks, timeTicks, valueTicks } from './ticks.ts';

// Set before any date is created: there the clock goes back from 4 to 3 on 25 October 2026, and forward from 3 to 4 on 29 March.
process.env['TZ'] = 'Europe/Tallinn';

test('value ticks are round numbers from 0 to at least the maximum', () => {
  assert.deepEqual(valueTicks(0), [0, 1]);
  assert.deepEqual(valueTicks(1), [0, 1]);
  assert.deepEqual(valueTicks(3), [0, 1, 2, 3]);
  assert.deepEqual(valueTicks(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(valueTicks(23), [0, 5, 10, 15, 20, 25]);
  assert.deepEqual(valueTicks(1_430), [0, 500, 1_000, 1_500]);
});

test('duration ticks are at natural steps of a clock', () => {
  assert.deepEqual(durationTicks(0), [0, 1]);
  assert.deepEqual(durationTicks(42), [0, 10, 20, 30, 40, 50]);
  assert.deepEqual(durationTicks(100), [0, 30, 60, 90, 120]);
  assert.deepEqual(durationTicks(4_000), [0, 900, 1_800, 2_700, 3_600, 4_500]);
  assert.ok(durationTicks(900_000).length <= 7);
});

const steps = (from: string, hours: number): string[] =>
  Array.from({ length: hours * 2 }, (_, index) => new Date(Date.parse(from) + index * 1_800_000).toISOString());
const clock = (ticks: readonly string[]): string => ticks.map((at) => new Date(at).getHours()).join(' ');

test('time ticks are at full local hours, each once, also on the days of a DST change', () => {
  assert.equal(clock(timeTicks(steps('2026-11-15T22:00:00Z', 24), 180)), '0 3 6 9 12 15 18 21');
  assert.equal(clock(timeTicks(steps('2026-10-24T21:00:00Z', 25), 180)), '0 3 6 9 12 15 18 21');
  // There is no 3 o'clock on that day.
  assert.equal(clock(timeTicks(steps('2026-03-28T22:00:00Z', 23), 180)), '0 6 9 12 15 18 21');
  assert.deepEqual(timeTicks(['2026-11-15T22:07:00Z'], 180), []);
});
