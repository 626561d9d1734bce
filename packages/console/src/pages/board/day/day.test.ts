import assert from 'node:assert/strict';
import test from 'node:test';
import type { QueueStatsInterval } from '@usher/sdk/api-types';
import { dayBounds, localDate, stepsOf, totalsOf } from './day.ts';

// Set before any date is created: there the last Sunday of October has 25 hours, and that of March has 23.
process.env['TZ'] = 'Europe/Tallinn';

const interval = (from: string, more: Partial<QueueStatsInterval> = {}): QueueStatsInterval => ({
  from,
  to: from,
  arrivals: 0,
  waiting: 0,
  engaged: 0,
  engaged_elsewhere: 0,
  abandoned: 0,
  expired: 0,
  unstaffed: 0,
  rerouted: 0,
  average_wait_sec: null,
  longest_wait_sec: null,
  within_service_level: null,
  ...more,
});

test('a day lasts from midnight to midnight in the time zone of the reader, also on the days of a DST change', () => {
  const hours = (day: string): number | null => {
    const bounds = dayBounds(day);
    return bounds === null ? null : (bounds.to.getTime() - bounds.from.getTime()) / 3_600_000;
  };
  assert.deepEqual(['2026-10-25', '2026-03-29', '2026-11-15'].map(hours), [25, 23, 24]);
  assert.equal(dayBounds('2026-10-25')?.from.toISOString(), '2026-10-24T21:00:00.000Z');
  for (const bad of ['', '2026-02-31', '2026-13-01', 'yesterday']) assert.equal(dayBounds(bad), null, bad);
  assert.equal(localDate(new Date('2026-01-31T23:30:00Z')), '2026-02-01');
});

test('intervals in the future have no figures', () => {
  const steps = stepsOf(
    [
      interval('2026-11-15T08:00:00Z', { arrivals: 2, expired: 1, unstaffed: 2, average_wait_sec: 90 }),
      interval('2026-11-15T09:00:00Z'),
    ],
    new Date('2026-11-15T08:30:00Z'),
  );
  assert.deepEqual(
    steps.map(({ arrivals, turnedAway, averageWaitSec }) => [arrivals, turnedAway, averageWaitSec]),
    [
      [2, 3, 90],
      [null, null, null],
    ],
  );
});

test('the totals of a day weight each interval by its visitors', () => {
  const totals = totalsOf([
    interval('a', { engaged: 3, average_wait_sec: 10, longest_wait_sec: 20, within_service_level: 1 }),
    interval('b', { engaged: 1, abandoned: 4, average_wait_sec: 50, longest_wait_sec: 50, within_service_level: 0.2 }),
    interval('c'),
  ]);
  assert.deepEqual([totals.averageWaitSec, totals.longestWaitSec, totals.within], [20, 50, 0.5]);
  const none = totalsOf([]);
  assert.deepEqual([none.averageWaitSec, none.longestWaitSec, none.within, none.arrivals], [null, null, null, 0]);
});
