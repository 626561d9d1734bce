import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalTimeZone } from '../../../../server/src/schedules/time-zones.ts';
import { isFound, offsetOf, zoneNames } from './zones.ts';

test('the server accepts every time zone that is offered', () => {
  const names = zoneNames();
  assert.ok(names.length > 300);
  assert.deepEqual(
    names.filter((name) => canonicalTimeZone(name) === null),
    [],
  );
  assert.ok(zoneNames('US/Eastern', '').includes('US/Eastern'));
});

test('a search finds time zones in natural spelling, and each has its UTC offset', () => {
  assert.ok(isFound('America/New_York', ' new york'));
  assert.ok(isFound('Europe/Tallinn', 'europe/tal'));
  assert.ok(!isFound('Europe/Tallinn', 'riga'));
  assert.equal(offsetOf('Europe/Tallinn', Date.UTC(2027, 0, 1)), 'GMT+2');
  assert.equal(offsetOf('Mars/Olympus', 0), '');
});
