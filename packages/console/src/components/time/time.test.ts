import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDate, formatTime, zoneNote } from './time.ts';

// Set before any date is created.
process.env['TZ'] = 'Europe/Tallinn';

const at = '2026-11-16T12:05:09Z';
/** Some versions of Unicode's data put a narrow space before AM and PM. */
const plain = (text: string): string => text.replaceAll(/\s/g, ' ');

test('times use 12 or 24 hours according to the locale', () => {
  assert.equal(plain(formatTime(at, 'time', 'en-US')), '2:05 PM');
  assert.equal(plain(formatTime(at, 'time', 'en-GB')), '14:05');
  assert.equal(plain(formatTime(at, 'recent', 'en-US')), 'Nov 16, 2:05:09 PM');
  assert.equal(plain(formatTime(at, 'dateTime', 'de-DE')), '16.11.2026, 14:05');
});

test('a date is the same day in every zone', () => {
  assert.equal(formatDate('2026-11-16', 'day', 'en-US'), 'Mon, Nov 16');
});

test('a time zone is named if it is not the zone of the browser', () => {
  assert.equal(zoneNote('Europe/Tallinn'), '');
  assert.equal(zoneNote('America/New_York'), ' (America/New York)');
});
