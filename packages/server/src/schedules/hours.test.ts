import assert from 'node:assert/strict';
import { test } from 'node:test';
import { weekdays } from '@usher/contract/opening-times';
import { hoursViolations, normalizeDays, type HoursException, type HoursPolicy } from './business-hours.ts';
import { compileHours, intervals, isOpen, nextChange } from './hours.ts';
import { canonicalTimeZone } from './time-zones.ts';

/** `'mon tue 09:00-17:00'`, one text for each element of `business_hours`. */
function policy(timezone: string, hours: string[], exceptions: HoursException[] = []): HoursPolicy {
  return {
    timezone,
    business_hours: hours.map((text) => {
      const days = text.split(' ');
      const [opens_at = '', closes_at = ''] = (days.pop() ?? '').split('-');
      return { opens_at, closes_at, days_of_week: days[0] === 'daily' ? weekdays : days };
    }),
    exceptions,
  };
}

function ms(instant: string): number {
  return Temporal.Instant.from(instant).epochMilliseconds;
}

/** The open intervals that touch the local dates from `first` to `last`, as the clock on the wall and its offset. */
function openOn(of: HoursPolicy, first: string, last = first): string[] {
  const from = Temporal.PlainDate.from(first).toZonedDateTime(of.timezone).epochMilliseconds;
  const to = Temporal.PlainDate.from(last).add({ days: 1 }).toZonedDateTime(of.timezone).epochMilliseconds;
  const show = (instant: number) =>
    Temporal.Instant.fromEpochMilliseconds(instant)
      .toZonedDateTimeISO(of.timezone)
      .toString({ timeZoneName: 'never', smallestUnit: 'minute' });
  return intervals(compileHours(of), from, to).map(({ opensAt, closesAt }) => `${show(opensAt)} ${show(closesAt)}`);
}

test('D6.1 hours are evaluated in the time zone at the instant: the same hours are other instants in summer', () => {
  const tallinn = compileHours(policy('Europe/Tallinn', ['daily 09:00-17:00']));
  assert.equal(nextChange(tallinn, ms('2026-01-15T00:00Z')), ms('2026-01-15T07:00Z'));
  assert.equal(nextChange(tallinn, ms('2026-07-15T00:00Z')), ms('2026-07-15T06:00Z'));
});

test('D6.1 an offset with seconds moves the edges off the full UTC minute, also before 1970', () => {
  const monrovia = compileHours(policy('Africa/Monrovia', ['daily 09:00-17:00']));
  assert.equal(nextChange(monrovia, ms('1972-01-05T00:00Z')), ms('1972-01-05T09:44:30Z'));
  assert.equal(nextChange(monrovia, ms('1960-01-05T12:00Z')), ms('1960-01-05T17:44:30Z'));
  assert.equal(nextChange(monrovia, ms('1918-01-05T00:00Z')), ms('1918-01-05T09:43:08Z'));
});

test('D6.2 an interval includes its start and excludes its end', () => {
  const hours = compileHours(policy('UTC', ['mon 09:00-17:00']));
  assert.equal(isOpen(hours, ms('2026-03-02T08:59:59.999Z')), false);
  assert.equal(isOpen(hours, ms('2026-03-02T09:00Z')), true);
  assert.equal(isOpen(hours, ms('2026-03-02T16:59:59.999Z')), true);
  assert.equal(isOpen(hours, ms('2026-03-02T17:00Z')), false);
  assert.equal(nextChange(hours, ms('2026-03-02T09:00Z')), ms('2026-03-02T17:00Z'));
  assert.equal(nextChange(hours, ms('2026-03-02T17:00Z')), ms('2026-03-09T09:00Z'));
});

test('D6.2 a closing before its opening is overnight and belongs to the day it opens on; Sunday runs into Monday', () => {
  const sundays = policy('Europe/Berlin', ['sun 22:00-02:00']);
  assert.deepEqual(openOn(sundays, '2026-02-28', '2026-03-03'), ['2026-03-01T22:00+01:00 2026-03-02T02:00+01:00']);
  // Asked about Monday alone, the span of the Sunday before is still there.
  assert.deepEqual(openOn(sundays, '2026-03-02'), ['2026-03-02T00:00+01:00 2026-03-02T02:00+01:00']);
});

test('D6.2 24:MM is after midnight, in both fields', () => {
  assert.deepEqual(openOn(policy('UTC', ['mon 20:00-24:30']), '2026-03-01', '2026-03-04'), [
    '2026-03-02T20:00+00:00 2026-03-03T00:30+00:00',
  ]);
  assert.deepEqual(openOn(policy('UTC', ['mon 24:15-24:45']), '2026-03-01', '2026-03-04'), [
    '2026-03-03T00:15+00:00 2026-03-03T00:45+00:00',
  ]);
  assert.deepEqual(openOn(policy('UTC', ['sun 24:30-02:00']), '2026-03-01', '2026-03-04'), [
    '2026-03-02T00:30+00:00 2026-03-02T02:00+00:00',
  ]);
  // It opens on Tuesday at 00:30, so the next 00:10 is on Wednesday.
  for (const closes of ['00:10', '24:10']) {
    assert.deepEqual(openOn(policy('UTC', [`mon 24:30-${closes}`]), '2026-03-01', '2026-03-08'), [
      '2026-03-03T00:30+00:00 2026-03-04T00:10+00:00',
    ]);
  }
});

test('D6.2 00:00–00:00 and 00:00–24:00 are the whole day; any other equal pair is refused', () => {
  for (const times of ['00:00-00:00', '00:00-24:00']) {
    assert.deepEqual(openOn(policy('UTC', [`mon ${times}`]), '2026-03-01', '2026-03-07'), [
      '2026-03-02T00:00+00:00 2026-03-03T00:00+00:00',
    ]);
    assert.deepEqual(hoursViolations(policy('UTC', [`mon ${times}`])), []);
  }
  const equal = policy('UTC', ['mon 09:00-09:00', 'mon 09:00-17:00', 'mon 24:00-24:00']);
  const detail = 'must not equal opens_at, unless both are 00:00: the whole day';
  assert.deepEqual(hoursViolations(equal), [
    { attribute: '/business_hours/0/closes_at', detail },
    { attribute: '/business_hours/2/closes_at', detail },
  ]);
  assert.throws(() => compileHours(equal), /09:00–09:00/);
});

test('D6.3 overlapping intervals are merged and touching ones have no gap, within a day and over midnight', () => {
  const hours = policy('UTC', ['mon 09:00-12:00', 'mon 12:00-14:00', 'mon 10:00-11:00', 'mon 13:00-15:00']);
  assert.deepEqual(openOn(hours, '2026-03-02'), ['2026-03-02T09:00+00:00 2026-03-02T15:00+00:00']);
  const night = policy('UTC', ['mon 22:00-24:00', 'tue 00:00-06:00', 'mon 23:00-02:00']);
  assert.deepEqual(openOn(night, '2026-03-02', '2026-03-03'), ['2026-03-02T22:00+00:00 2026-03-03T06:00+00:00']);
});

test('D6.3 a policy that is always open never changes', () => {
  for (const hours of [
    ['daily 00:00-00:00'],
    ['daily 00:00-12:00', 'daily 12:00-24:00'],
    ['daily 09:00-08:00', 'daily 07:00-10:00'],
  ]) {
    const always = compileHours(policy('Europe/Berlin', hours));
    assert.equal(nextChange(always, ms('2026-03-02T00:00Z')), null);
    assert.deepEqual(intervals(always, 0, 1), [{ opensAt: 0, closesAt: 1 }]);
  }
});

test('D6.3 intervals are clipped to the range, and an empty range has none', () => {
  const hours = compileHours(policy('UTC', ['daily 09:00-17:00']));
  const [from, to] = [ms('2026-03-02T10:00Z'), ms('2026-03-03T10:00Z')];
  assert.deepEqual(intervals(hours, from, to), [
    { opensAt: from, closesAt: ms('2026-03-02T17:00Z') },
    { opensAt: ms('2026-03-03T09:00Z'), closesAt: to },
  ]);
  assert.deepEqual(intervals(hours, from, from), []);
  assert.deepEqual(intervals(hours, to, from), []);
});

test('D6.4 an opening or closing in the skipped hour takes effect at the first instant after it', () => {
  const berlin = (hours: string) => openOn(policy('Europe/Berlin', [hours]), '2026-03-29');
  assert.deepEqual(berlin('sun 02:30-05:00'), ['2026-03-29T03:00+02:00 2026-03-29T05:00+02:00']);
  assert.deepEqual(berlin('sun 01:00-02:30'), ['2026-03-29T01:00+01:00 2026-03-29T03:00+02:00']);
  assert.deepEqual(berlin('sun 02:10-02:50'), []);
  assert.deepEqual(berlin('sat 22:00-02:30'), ['2026-03-29T00:00+01:00 2026-03-29T03:00+02:00']);
});

test('D6.4 both passes of a repeated hour count', () => {
  const berlin = (hours: string) => openOn(policy('Europe/Berlin', [hours]), '2026-10-25');
  assert.deepEqual(berlin('sun 02:15-02:45'), [
    '2026-10-25T02:15+02:00 2026-10-25T02:45+02:00',
    '2026-10-25T02:15+01:00 2026-10-25T02:45+01:00',
  ]);
  assert.deepEqual(berlin('sun 01:00-02:30'), [
    '2026-10-25T01:00+02:00 2026-10-25T02:30+02:00',
    '2026-10-25T02:00+01:00 2026-10-25T02:30+01:00',
  ]);
  assert.deepEqual(berlin('sun 02:30-04:00'), [
    '2026-10-25T02:30+02:00 2026-10-25T02:00+01:00',
    '2026-10-25T02:30+01:00 2026-10-25T04:00+01:00',
  ]);
  assert.deepEqual(berlin('sun 01:00-03:00'), ['2026-10-25T01:00+02:00 2026-10-25T03:00+01:00']);
});

test('D6.4 a night across a transition lasts seven or nine hours', () => {
  const nights = compileHours(policy('Europe/Berlin', ['sat 22:00-06:00']));
  const lasting = (from: string) => {
    const [night] = intervals(nights, ms(from), ms(from) + 48 * 3_600_000);
    return ((night?.closesAt ?? 0) - (night?.opensAt ?? 0)) / 3_600_000;
  };
  assert.deepEqual(
    [lasting('2026-03-28T12:00Z'), lasting('2026-10-24T12:00Z'), lasting('2026-06-06T12:00Z')],
    [7, 9, 8],
  );
});

test('D6.4 clocks may change by half an hour: Australia/Lord_Howe', () => {
  const howe = (hours: string, date: string) => openOn(policy('Australia/Lord_Howe', [hours]), date);
  assert.deepEqual(howe('sun 02:15-04:00', '2026-10-04'), ['2026-10-04T02:30+11:00 2026-10-04T04:00+11:00']);
  assert.deepEqual(howe('sun 01:00-01:45', '2026-04-05'), [
    '2026-04-05T01:00+11:00 2026-04-05T01:45+11:00',
    '2026-04-05T01:30+10:30 2026-04-05T01:45+10:30',
  ]);
});

test('D6.4 a date with a gap at midnight starts late: America/Sao_Paulo 2017-10-15 at 01:00', () => {
  const paulo = (hours: string[]) => openOn(policy('America/Sao_Paulo', hours), '2017-10-14', '2017-10-15');
  assert.deepEqual(paulo(['sun 00:30-02:00']), ['2017-10-15T01:00-02:00 2017-10-15T02:00-02:00']);
  assert.deepEqual(paulo(['sat 20:00-00:30']), ['2017-10-14T20:00-03:00 2017-10-15T01:00-02:00']);
  // They touch only because the hour between them is skipped.
  assert.deepEqual(paulo(['sat 20:00-24:00', 'sun 01:00-02:00']), ['2017-10-14T20:00-03:00 2017-10-15T02:00-02:00']);
});

test('D6.4 a clock that goes back over midnight returns to the previous date: America/St_Johns 2010-11-07, 00:01 to 23:01', () => {
  const johns = policy('America/St_Johns', ['sat 23:00-24:00'], [{ date: '2010-11-07' }]);
  assert.deepEqual(openOn(johns, '2010-11-06', '2010-11-07'), [
    '2010-11-06T23:00-02:30 2010-11-07T00:00-02:30',
    '2010-11-06T23:01-03:30 2010-11-07T00:00-03:30',
  ]);
});

test('D6.4 of a skipped day only the spill counts: Pacific/Apia had no Friday 2011-12-30', () => {
  const apia = (hours: string[]) => openOn(policy('Pacific/Apia', hours), '2011-12-29', '2011-12-31');
  assert.deepEqual(apia(['fri 09:00-17:00']), []);
  assert.deepEqual(apia(['fri 22:00-02:00']), ['2011-12-31T00:00+14:00 2011-12-31T02:00+14:00']);
  assert.deepEqual(apia(['thu 22:00-02:00']), ['2011-12-29T22:00-10:00 2011-12-31T00:00+14:00']);
  assert.deepEqual(apia(['thu 20:00-24:00', 'sat 00:00-01:00']), ['2011-12-29T20:00-10:00 2011-12-31T01:00+14:00']);
  const fridays = compileHours(policy('Pacific/Apia', ['fri 09:00-17:00']));
  assert.equal(nextChange(fridays, ms('2011-12-29T12:00Z')), ms('2012-01-06T09:00+14:00'));
});

test('D6.5 days are lower-case, without duplicates, in week order', () => {
  assert.deepEqual(normalizeDays(['SUN', 'mon', 'Fri', 'MON', 'sun']), ['mon', 'fri', 'sun']);
  const shouted = compileHours(policy('UTC', ['MON Mon 09:00-17:00']));
  assert.equal(isOpen(shouted, ms('2026-03-02T12:00Z')), true);
  assert.deepEqual(
    hoursViolations(policy('UTC', ['mon sonntag 09:00-17:00'])).map(({ attribute }) => attribute),
    ['/business_hours/0/days_of_week/1'],
  );
});

test('D6.5 zones are IANA names in any case, including links, and are returned as spelt in the zone database', () => {
  const spelt = {
    'us/eastern': 'US/Eastern',
    'EUROPE/KYIV': 'Europe/Kyiv',
    'asia/calcutta': 'Asia/Calcutta',
    'asia/kolkata': 'Asia/Kolkata',
    'america/port-au-prince': 'America/Port-au-Prince',
    'america/argentina/comodrivadavia': 'America/Argentina/ComodRivadavia',
    'gb-eire': 'GB-Eire',
    utc: 'UTC',
    'etc/gmt+5': 'Etc/GMT+5',
  };
  for (const [given, name] of Object.entries(spelt)) assert.equal(canonicalTimeZone(given), name);
  for (const none of [
    '+02:00',
    '-05',
    'Z',
    '',
    'Mars/Olympus',
    'Europe/Paris ',
    'CST',
    '1970-01-01T00:00Z[Europe/Paris]',
  ])
    assert.equal(canonicalTimeZone(none), null, none);
  assert.deepEqual(
    hoursViolations({ timezone: '+02:00' }).map(({ attribute }) => attribute),
    ['/timezone'],
  );
});

test('D6.6 an exception without times closes its date, and the overnight interval of the day before ends at midnight', () => {
  const nights = policy('Europe/Tallinn', ['daily 20:00-04:00'], [{ date: '2026-12-24' }]);
  assert.deepEqual(openOn(nights, '2026-12-23', '2026-12-25'), [
    '2026-12-23T00:00+02:00 2026-12-23T04:00+02:00',
    '2026-12-23T20:00+02:00 2026-12-24T00:00+02:00',
    '2026-12-25T20:00+02:00 2026-12-26T00:00+02:00',
  ]);
});

test('D6.6 exceptions with times replace the hours of their date, are merged, and spill until the next date with an exception', () => {
  const hours = policy(
    'UTC',
    ['daily 09:00-17:00'],
    [
      { date: '2026-12-24', opens_at: '22:00', closes_at: '02:00' },
      { date: '2026-12-24', opens_at: '10:00', closes_at: '12:00' },
      { date: '2026-12-26', opens_at: '20:00', closes_at: '24:30' },
      { date: '2026-12-24', opens_at: '11:00', closes_at: '13:00' },
      { date: '2026-12-24' },
      { date: '2026-12-27', opens_at: '00:00', closes_at: '00:00' },
      { date: '2026-12-28', opens_at: '23:00', closes_at: '02:00' },
      { date: '2026-12-29' },
    ],
  );
  assert.deepEqual(openOn(hours, '2026-12-24', '2026-12-30'), [
    '2026-12-24T10:00+00:00 2026-12-24T13:00+00:00',
    '2026-12-24T22:00+00:00 2026-12-25T02:00+00:00',
    '2026-12-25T09:00+00:00 2026-12-25T17:00+00:00',
    '2026-12-26T20:00+00:00 2026-12-28T00:00+00:00',
    '2026-12-28T23:00+00:00 2026-12-29T00:00+00:00',
    '2026-12-30T09:00+00:00 2026-12-30T17:00+00:00',
  ]);
});

test('D6.6 a span that reaches two days ahead is replaced with its date, and ended by an exception on either day', () => {
  const long = (date: string) => openOn(policy('UTC', ['mon 24:30-00:10'], [{ date }]), '2026-03-01', '2026-03-07');
  assert.deepEqual(long('2026-03-02'), []);
  assert.deepEqual(long('2026-03-03'), []);
  assert.deepEqual(long('2026-03-04'), ['2026-03-03T00:30+00:00 2026-03-04T00:00+00:00']);
  assert.deepEqual(long('2026-03-05'), ['2026-03-03T00:30+00:00 2026-03-04T00:10+00:00']);
  const extra = policy('UTC', ['sun 09:00-17:00'], [{ date: '2026-03-02', opens_at: '24:30', closes_at: '00:10' }]);
  assert.deepEqual(openOn(extra, '2026-03-02', '2026-03-07'), ['2026-03-03T00:30+00:00 2026-03-04T00:10+00:00']);
});

test('D6.6 nextChange finds an exception however far ahead, and ignores one that changes nothing', () => {
  const always = (...exceptions: HoursException[]) =>
    compileHours(policy('Europe/Berlin', ['daily 00:00-24:00'], exceptions));
  assert.equal(nextChange(always({ date: '9999-12-24' }), ms('1950-01-01T00:00Z')), ms('9999-12-24T00:00+01:00'));
  const wholeDay = always({ date: '2026-12-24', opens_at: '00:00', closes_at: '24:00' });
  assert.equal(nextChange(wholeDay, ms('2026-01-01T00:00Z')), null);
  const skipped = compileHours(policy('Pacific/Apia', ['daily 00:00-24:00'], [{ date: '2011-12-30' }]));
  assert.equal(nextChange(skipped, ms('2011-12-01T00:00Z')), null);
});

test('D6.6 an exception with only one time, with equal times or with an invalid date is refused, with all violations at once', () => {
  const violations = hoursViolations(
    policy(
      'UTC',
      ['mon 09:00-17:00'],
      [
        { date: '2024-02-29' },
        { date: '2026-02-29', opens_at: '09:00' },
        { date: '2026-13-01', closes_at: '09:00' },
        { date: '24.12.2026', opens_at: '09:00', closes_at: '09:00' },
        { date: '2011-12-30', opens_at: '00:00', closes_at: '00:00' },
      ],
    ),
  );
  assert.deepEqual(
    violations.map(({ attribute }) => attribute),
    [
      '/exceptions/1/date',
      '/exceptions/1/closes_at',
      '/exceptions/2/date',
      '/exceptions/2/opens_at',
      '/exceptions/3/date',
      '/exceptions/3/closes_at',
    ],
  );
});
