import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterFailure, afterSuccess, silentMs, type Outage } from './outage.ts';

const minute = 60_000;

/** The starts of the outages after each attempt; `null`: the webhook works. */
function follow(attempts: readonly (readonly [atMinute: number, hasDelivered: boolean])[]): (number | null)[] {
  let outage: Outage | null = null;
  return attempts.map(([at, hasDelivered]) => {
    if (!hasDelivered) outage = afterFailure(outage, at * minute);
    else if (outage !== null) outage = afterSuccess(outage, at * minute);
    return outage === null ? null : outage.since / minute;
  });
}

test('one success ends an outage of less than a minute', () => {
  assert.deepEqual(follow([[1, false], [1.5, false], [1.9, true], [2, false], [2.1, true]]), [1, 1, null, 2, null]); // prettier-ignore
});

test('the status of a receiver that succeeds now and then does not change', () => {
  const attempts = Array.from({ length: 600 }, (_, index) => [index / 2, index % 15 === 14] as const);
  assert.deepEqual(new Set(follow(attempts)), new Set([0]));
});

test('an outage ends after ten minutes without a failure, counted from the first success', () => {
  assert.deepEqual(follow([[0, false], [30, false], [90, true], [99, true], [100, true]]), [0, 0, 0, 0, null]); // prettier-ignore
  assert.deepEqual(follow([[0, false], [5, true], [14, false], [15, true], [24, true], [25, true]]), [0, 0, 0, 0, 0, null]); // prettier-ignore
  assert.deepEqual(follow([[0, false], [5, true], [16, false]]), [0, 0, 16]); // prettier-ignore
});

test('how long nothing was delivered counts from the last success, though the outage began earlier', () => {
  let outage: Outage = afterFailure(null, 0);
  outage = afterFailure(outage, 50 * minute);
  assert.equal(silentMs(outage, 60 * minute), 60 * minute);
  outage = afterSuccess(outage, 60 * minute) ?? assert.fail();
  outage = afterFailure(outage, 65 * minute);
  outage = afterFailure(outage, 90 * minute);
  assert.equal(silentMs(outage, 100 * minute), 35 * minute);
});

test('repeated failures are noted once a minute, and the first success after a failure always', () => {
  const first = afterFailure(null, 0);
  assert.equal(afterFailure(first, 59_999), first);
  const second = afterFailure(first, minute);
  assert.equal(second.failedAt, minute);
  // In the same millisecond as the failure.
  const recovering = afterSuccess(second, minute) ?? assert.fail();
  assert.ok((recovering.succeededAt ?? 0) > recovering.failedAt);
  assert.equal(afterSuccess(recovering, 2 * minute), recovering);
});
