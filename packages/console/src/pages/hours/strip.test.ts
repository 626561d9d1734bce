import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlookOf } from '../../../../server/src/schedules/outlook.ts';
import { describeChange, stripOf, zoneFormat } from './strip.ts';

const instant = (at: number): string => new Date(at).toISOString();

function seen(start: string) {
  const at = Date.parse(start);
  const policy = {
    timezone: 'Europe/Tallinn',
    business_hours: [{ opens_at: '22:00', closes_at: '05:00', days_of_week: ['sat'] }],
  };
  const outlook = outlookOf(policy, { now: at, start: at, days: 3 });
  return stripOf({
    open: outlook.open,
    next_change_at: null,
    next_clock_change_at: null,
    days: outlook.days.map((day) => ({
      date: day.date,
      starts_at: instant(day.startsAt),
      ends_at: instant(day.endsAt),
    })),
    intervals: outlook.intervals.map((each) => ({
      opens_at: instant(each.opensAt),
      closes_at: instant(each.closesAt),
    })),
    clock_changes: outlook.clockChanges.map((each) => ({
      at: instant(each.at),
      offset_before_sec: each.offsetBeforeSec,
      offset_after_sec: each.offsetAfterSec,
    })),
  });
}

test('a day of 25 hours is the longest, and its DST change is at the right position', () => {
  const [saturday, sunday, monday] = seen('2027-10-30T12:00:00Z');
  assert.deepEqual([saturday?.hours, sunday?.hours, monday?.hours], [24, 25, 24]);
  assert.deepEqual([saturday?.length, sunday?.length], [24 / 25, 1]);
  assert.deepEqual(
    sunday?.changes.map(({ position, bySec }) => [position, bySec]),
    [[4 / 25, -3_600]],
  );
  // Because of the DST change, the overnight hours last six hours on Sunday instead of five.
  assert.deepEqual(
    sunday?.pieces.map(({ from, to }) => [from, to]),
    [[0, 6 / 25]],
  );
  assert.deepEqual(
    saturday?.pieces.map(({ from, to }) => [from, to]),
    [[22 / 25, 24 / 25]],
  );
});

test('a day of 23 hours is shorter than other days', () => {
  const [, sunday] = seen('2027-03-27T12:00:00Z');
  assert.deepEqual([sunday?.hours, sunday?.length], [23, 23 / 24]);
});

test('a DST change says which hours are skipped or repeated, and an unknown time zone is tolerated', () => {
  const descriptions = (start: string): string[] => seen(start).flatMap(({ changes }) => changes.map(describeChange));
  assert.deepEqual(descriptions('2027-10-30T12:00:00Z'), [
    'DST change: clocks go back 1 h at 04:00, so 03:00–04:00 occurs twice',
  ]);
  assert.deepEqual(descriptions('2027-03-27T12:00:00Z'), [
    'DST change: clocks go forward 1 h at 03:00, so 03:00–04:00 is skipped',
  ]);
  assert.match(zoneFormat('Mars/Olympus', { hour: '2-digit' }).format(0), /UTC/);
  assert.match(zoneFormat('Mars/Olympus', { dateStyle: 'medium' }).format(0), /1970/);
});
