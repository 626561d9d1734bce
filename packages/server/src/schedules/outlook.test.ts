import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlookOf } from './outlook.ts';

const allDay = [
  { opens_at: '00:00', closes_at: '00:00', days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
];
const hour = 3_600_000;
const at = (text: string): number => Date.parse(text);
const lengths = (timezone: string, start: string, days: number): number[] =>
  outlookOf({ timezone, business_hours: allDay }, { now: at(start), start: at(start), days }).days.map(
    ({ startsAt, endsAt }) => (endsAt - startsAt) / hour,
  );

test('local days have their real length: 23, 24, 25 or 24.5 hours', () => {
  assert.deepEqual(lengths('Europe/Tallinn', '2027-03-27T12:00:00Z', 3), [24, 23, 24]);
  assert.deepEqual(lengths('Europe/Tallinn', '2027-10-30T12:00:00Z', 3), [24, 25, 24]);
  assert.deepEqual(lengths('Australia/Lord_Howe', '2027-04-03T12:00:00Z', 3), [24, 24.5, 24]);
});

test('a date that the zone skipped is left out', () => {
  const { days } = outlookOf(
    { timezone: 'Pacific/Apia', business_hours: allDay },
    { now: 0, start: at('2011-12-29T20:00:00Z'), days: 3 },
  );
  assert.deepEqual(
    days.map(({ date }) => date),
    ['2011-12-29', '2011-12-31'],
  );
});

test('the outlook contains the clock change with both offsets, and the next one after it', () => {
  const policy = {
    timezone: 'Europe/Tallinn',
    business_hours: [{ opens_at: '02:00', closes_at: '05:00', days_of_week: ['sun'] }],
  };
  const start = at('2027-10-25T00:00:00Z');
  const outlook = outlookOf(policy, { now: start, start, days: 14 });
  const change = at('2027-10-31T01:00:00Z');
  assert.deepEqual(outlook.clockChanges, [{ at: change, offsetBeforeSec: 10_800, offsetAfterSec: 7_200 }]);
  assert.equal(outlook.nextClockChangeAt, change);
  assert.deepEqual(
    outlook.intervals.map(({ opensAt, closesAt }) => (closesAt - opensAt) / hour),
    [4, 3],
  );
  assert.equal(outlook.open, false);
  assert.equal(outlook.nextChangeAt, at('2027-10-30T23:00:00Z'));
  const utc = outlookOf({ timezone: 'UTC', business_hours: allDay }, { now: start, start, days: 14 });
  assert.deepEqual([utc.clockChanges, utc.nextClockChangeAt, utc.nextChangeAt, utc.open], [[], null, null, true]);
});
