import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CalendarError, readHolidays } from './icalendar.ts';

const range = { from: '2026-01-01', to: '2028-12-31' };

function calendar(...events: readonly string[]): string {
  const body = events.map((event) => `BEGIN:VEVENT\r\nSUMMARY:Day\r\n${event}\r\nEND:VEVENT\r\n`);
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${body.join('')}END:VCALENDAR\r\n`;
}

const datesOf = (event: string): string[] => readHolidays(calendar(event), range).days.map(({ date }) => date);

test('an all-day event is one day, or the days before its DTEND', () => {
  assert.deepEqual(datesOf('DTSTART;VALUE=DATE:20261224'), ['2026-12-24']);
  assert.deepEqual(datesOf('DTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227'), [
    '2026-12-24',
    '2026-12-25',
    '2026-12-26',
  ]);
  assert.deepEqual(datesOf('DTSTART;VALUE=DATE:20261231\r\nDURATION:P2D'), ['2026-12-31', '2027-01-01']);
});

test('a DATE-TIME counts from midnight to midnight of its own time zone', () => {
  const zone = ';TZID="Europe/Tallinn"';
  assert.deepEqual(datesOf(`DTSTART${zone}:20260224T000000\r\nDTEND${zone}:20260225T000000`), ['2026-02-24']);
  for (const times of [
    `DTSTART${zone}:20260224T090000\r\nDTEND${zone}:20260224T170000`,
    'DTSTART:20260224T000000Z\r\nDTEND:20260225T000000Z',
    `DTSTART${zone}:20260224T000000`,
  ])
    assert.deepEqual(readHolidays(calendar(times), range), { days: [], skipped: ['Day: is not an all-day event'] });
});

test('yearly rules end by COUNT or UNTIL, skip years by INTERVAL, and leave out EXDATE', () => {
  const start = 'DTSTART;VALUE=DATE:20200501\r\nRRULE:FREQ=YEARLY';
  assert.deepEqual(datesOf(start), ['2026-05-01', '2027-05-01', '2028-05-01']);
  assert.deepEqual(datesOf(`${start};BYMONTH=5;BYMONTHDAY=1;COUNT=8`), ['2026-05-01', '2027-05-01']);
  assert.deepEqual(datesOf(`${start};INTERVAL=4`), ['2028-05-01']);
  assert.deepEqual(datesOf(`${start};UNTIL=20270501`), ['2026-05-01', '2027-05-01']);
  assert.deepEqual(datesOf(`${start}\r\nEXDATE;VALUE=DATE:20270501,20280501`), ['2026-05-01']);
  assert.deepEqual(datesOf('DTSTART;VALUE=DATE:20200229\r\nRRULE:FREQ=YEARLY'), ['2028-02-29']);
});

test('a rule names a weekday of a month, counted from its beginning or its end', () => {
  const rule = (start: string, by: string): string[] =>
    datesOf(`DTSTART;VALUE=DATE:${start}\r\nRRULE:FREQ=YEARLY;${by}`);
  assert.deepEqual(rule('20201126', 'BYMONTH=11;BYDAY=4TH'), ['2026-11-26', '2027-11-25', '2028-11-23']);
  assert.deepEqual(rule('20200525', 'BYDAY=-1MO;BYMONTH=5'), ['2026-05-25', '2027-05-31', '2028-05-29']);
  assert.deepEqual(rule('20200101', 'BYMONTH=1;BYDAY=+1SU;COUNT=8'), ['2026-01-04', '2027-01-03']);
  // Only some years have a fifth Friday in May.
  assert.deepEqual(rule('20200529', 'BYMONTH=5;BYDAY=5FR'), ['2026-05-29']);
  assert.deepEqual(rule('20271231', 'BYMONTH=12;BYDAY=-1FR'), ['2027-12-31', '2028-12-29']);
});

test('what is not understood is skipped with its reason', () => {
  for (const [event, reason] of [
    ['DTSTART;VALUE=DATE:20260101\r\nRRULE:FREQ=MONTHLY', 'repeats MONTHLY; only YEARLY is supported'],
    ['DTSTART;VALUE=DATE:20261126\r\nRRULE:FREQ=YEARLY;BYDAY=4TH', 'repeats with BYDAY=4TH, which is not supported'],
    [
      'DTSTART;VALUE=DATE:20261126\r\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=TH',
      'repeats with BYDAY=TH, which is not supported',
    ],
    ['DTSTART;VALUE=DATE:20260101\r\nRDATE;VALUE=DATE:20260102', 'has RDATE, which is not supported'],
    ['DTSTART;VALUE=DATE:20260230', 'has no valid DTSTART'],
    ['DTSTART;VALUE=DATE:20260101\r\nDTEND;VALUE=DATE:20270101', 'lasts 365 days; the most is 31'],
    ['DTSTART;VALUE=DATE:20260101\r\nSTATUS:CANCELLED', 'is cancelled'],
  ] as const)
    assert.deepEqual(readHolidays(calendar(event), range), { days: [], skipped: [`Day: ${reason}`] });
});

test('folded lines and escaped text are read, and alarms are not', () => {
  const event =
    'BEGIN:VEVENT\nDTSTART;VALUE=DATE:20260624\nSUMMARY:St. John\\,\n  Midsummer\nBEGIN:VALARM\nSUMMARY:No\nEND:VALARM\nEND:VEVENT';
  assert.deepEqual(readHolidays(`BEGIN:VCALENDAR\n${event}\nEND:VCALENDAR`, range).days, [
    { date: '2026-06-24', name: 'St. John, Midsummer' },
  ]);
  assert.throws(() => readHolidays('<html>', range), CalendarError);
  assert.throws(() => readHolidays('BEGIN:VCALENDAR\nBEGIN:VEVENT', range), /cut off: END:VEVENT is missing/);
});
