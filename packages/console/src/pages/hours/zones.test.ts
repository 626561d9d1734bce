import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalTimeZone } from '../../../../server/src/schedules/time-zones.ts';
import { isFound, offsetOf, zoneNames } from './zones.ts';

test('every name offered is one the server takes', () => {
  const names = zoneNames();
  assert.ok(names.length > 300);
  assert.deepEqual(
    names.filter((name) => canonicalTimeZone(name) === null),
    [],
  );
  assert.ok(zoneNames('US/Eastern', '').includes('US/Eastern'));
});

test('zones are found as one writes them, with how far ahead they are', () => {
  assert.ok(isFound('America/New_York', ' new york'));
  assert.ok(isFound('Europe/Tallinn', 'europe/tal'));
  assert.ok(!isFound('Europe/Tallinn', 'riga'));
  assert.equal(offsetOf('Europe/Tallinn', Date.UTC(2027, 0, 1)), 'GMT+2');
  assert.equal(offsetOf('Mars/Olympus', 0), '');
});
