import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '@usher/contract/opening-times';
import type { HoursOutlook } from '@usher/sdk/api-types';
import { outlookOf } from '../schedules/outlook.ts';
import {
  changedDates,
  changedDays,
  changeHours,
  periodsOf,
  requestOf,
  versionOf,
  type Hours,
  type HoursChange,
  type Period,
} from './hours-change.ts';

const office: Hours = {
  timezone: 'Europe/Tallinn',
  business_hours: [{ opens_at: '09:00', closes_at: '17:00', days_of_week: [...weekdays] }],
  exceptions: [{ date: '2026-12-24' }, { date: '2026-12-31', opens_at: '09:00', closes_at: '12:00' }],
};

/** The answer of the API to a preview of these hours. */
function previewOf(hours: Hours, period: Period): HoursOutlook {
  const { from, days: count } = requestOf(period);
  const start = Date.parse(from);
  const outlook = outlookOf(hours, { now: start, start, days: count });
  const text = (at: number): string => new Date(at).toISOString();
  return {
    open: outlook.open,
    next_change_at: null,
    days: outlook.days.map(({ date, startsAt, endsAt }) => ({
      date,
      starts_at: text(startsAt),
      ends_at: text(endsAt),
    })),
    intervals: outlook.intervals.map(({ opensAt, closesAt }) => ({
      opens_at: text(opensAt),
      closes_at: text(closesAt),
    })),
    clock_changes: [],
    next_clock_change_at: null,
  };
}

function effectOf(before: Hours, change: HoursChange, period: Period) {
  const after = changeHours(before, change);
  const previews = { before: previewOf(before, period), after: previewOf(after, period) };
  return changedDays(period, after.timezone, previews);
}

test('a change keeps what it does not name, and sorts exceptions by date', () => {
  assert.deepEqual(changeHours(office, {}), office);
  const changed = changeHours(office, {
    set_exceptions: [{ date: '2026-12-25' }],
    remove_exceptions_on: ['2026-12-31'],
  });
  assert.deepEqual(changed.exceptions, [{ date: '2026-12-24' }, { date: '2026-12-25' }]);
  assert.deepEqual(changedDates(office, changed), ['2026-12-25', '2026-12-31']);
  assert.deepEqual(changeHours(office, { exceptions: [] }).exceptions, []);
  const closed = changeHours(office, { set_exceptions: [{ date: '2026-12-31' }] });
  assert.deepEqual(closed.exceptions, [{ date: '2026-12-24' }, { date: '2026-12-31' }]);
});

test('the version depends on the policy, its entity tag and the hours, but not on the order of fields', () => {
  const version = versionOf('a', '"7"', office);
  assert.match(version, /^7\.[\da-f]{16}$/);
  const [hours] = office.business_hours;
  const reordered = { days_of_week: [...weekdays], closes_at: hours?.closes_at ?? '', opens_at: hours?.opens_at ?? '' };
  assert.equal(versionOf('a', '"7"', changeHours(office, { business_hours: [reordered] })), version);
  for (const other of [
    versionOf('b', '"7"', office),
    versionOf('a', '"8"', office),
    versionOf('a', '"7"', changeHours(office, { timezone: 'UTC' })),
    versionOf('a', '"7"', changeHours(office, { set_exceptions: [{ date: '2027-01-01' }] })),
  ])
    assert.notEqual(other, version);
});

test('the compared days begin today and include later dates whose exceptions change, up to a limit', () => {
  const { periods, missed } = periodsOf('2026-11-17', 14, [
    '2026-11-16',
    '2026-11-30',
    '2026-12-01',
    '2026-12-27',
    '2026-12-28',
  ]);
  assert.deepEqual(periods, [
    { start: '2026-11-17', days: 14 },
    { start: '2026-12-01', days: 27 },
    { start: '2026-12-28', days: 27 },
  ]);
  assert.deepEqual(missed, []);
  const years = Array.from({ length: 8 }, (_, index) => `${2027 + index}-05-01`);
  const many = periodsOf('2026-11-17', 14, years);
  assert.deepEqual([many.periods.length, many.missed], [6, years.slice(5)]);
  const wrong = ['2026-13-01', '2026-13-02', '9999-12-31'];
  assert.deepEqual(periodsOf('2026-11-17', 14, wrong), { periods: [{ start: '2026-11-17', days: 14 }], missed: wrong });
});

test('only the days that open at other times are shown, in local time', () => {
  const december = { start: '2026-12-20', days: 14 };
  assert.deepEqual(effectOf(office, {}, december), []);
  assert.deepEqual(effectOf(office, { set_exceptions: [{ date: '2026-12-25' }] }, december), [
    { date: '2026-12-25', before: ['09:00-17:00'], after: [] },
  ]);
  const nights = [{ opens_at: '22:00', closes_at: '06:00', days_of_week: ['sat'] }];
  // The clocks of Tallinn skip 03:00 to 04:00 on 28 March 2027, a Sunday.
  const march = { start: '2027-03-27', days: 2 };
  assert.deepEqual(effectOf(office, { business_hours: nights }, march), [
    { date: '2027-03-27', before: ['09:00-17:00'], after: ['22:00-24:00'] },
    { date: '2027-03-28', before: ['09:00-17:00'], after: ['00:00-06:00'] },
  ]);
});

test('a change between the time zones that are furthest apart is compared completely', () => {
  const always = [{ opens_at: '00:00', closes_at: '24:00', days_of_week: [...weekdays] }];
  const period = { start: '2026-12-10', days: 3 };
  for (const [from, to] of [
    ['Pacific/Kiritimati', 'Etc/GMT+12'],
    ['Etc/GMT+12', 'Pacific/Kiritimati'],
  ] as const) {
    const open: Hours = { timezone: from, business_hours: always, exceptions: [] };
    assert.deepEqual(effectOf(open, { timezone: to }, period), [], 'open at every moment, before and after');
    const nine: Hours = { ...open, business_hours: office.business_hours };
    const days = effectOf(nine, { timezone: to }, period);
    assert.deepEqual(
      days.map(({ date }) => date),
      ['2026-12-10', '2026-12-11', '2026-12-12'],
    );
    for (const { before, after } of days) assert.deepEqual([before.length > 0, after], [true, ['09:00-17:00']]);
  }
});
