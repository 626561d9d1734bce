import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsherError, UsherUnreachable } from './errors.ts';
import { isRepeatable, retryDelayMs } from './retries.ts';

const refused = (status: number, retryAfter?: string, error = 'too_busy'): UsherError =>
  new UsherError(
    { status, error, detail: 'Refused.', details: [] },
    new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  );
const delay = (error: unknown, may = true, retries = 0): number | null =>
  retryDelayMs({ error, isRepeatable: may, retries, random: 1 });

test('what may be repeated is retried with growing delays after temporary failures', () => {
  assert.deepEqual(
    [0, 1, 2].map((retries) => delay(new UsherUnreachable(null), true, retries)),
    [250, 500, 1000],
  );
  for (const status of [429, 502, 503, 504]) assert.equal(delay(refused(status)), 250, String(status));
  for (const status of [400, 401, 404, 409, 422, 500, 507]) assert.equal(delay(refused(status)), null, String(status));
});

test('what may not be repeated is retried only after a 429', () => {
  assert.equal(delay(new UsherUnreachable(null), false), null);
  assert.equal(delay(refused(503), false), null);
  assert.equal(delay(refused(429), false), 250);
  assert.deepEqual(
    [isRepeatable('PATCH', false), isRepeatable('PUT', true), isRepeatable('POST', false)],
    [false, false, true],
  );
});

test('Retry-After is respected up to a minute, as seconds or as a date', () => {
  assert.equal(delay(refused(503, '7')), 7000);
  assert.equal(delay(refused(503, '61')), null);
  assert.equal(delay(refused(503, 'soon')), 250);
  const inTenSeconds = delay(refused(429, new Date(Date.now() + 10_000).toUTCString())) ?? 0;
  assert.ok(inTenSeconds > 8_000 && inTenSeconds <= 10_000);
});

test('a refusal that lasts until the settings change is not retried', () => {
  assert.equal(delay(refused(503, undefined, 'no_carrier')), null);
});
