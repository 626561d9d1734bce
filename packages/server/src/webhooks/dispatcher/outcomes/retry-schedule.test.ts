import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterFailure } from './retry-schedule.ts';

const failed = { type: 'engagement.start', times: 1, retryAfterMs: null, random: 0.5 };
const typing = 'engagement.chat.typing_indicator.visitor';

function delayOf(given: Partial<Parameters<typeof afterFailure>[0]>): number | string {
  const then = afterFailure({ ...failed, ...given });
  return typeof then === 'string' ? then : then.delayMs;
}

test('D8.6: a delivery is exhausted after eleven retries over about three days', () => {
  const delays = Array.from({ length: 12 }, (_, index) => delayOf({ times: index + 1 }));
  assert.deepEqual(delays, [
    5_000,
    30_000,
    120_000,
    600_000,
    1_800_000,
    7_200_000,
    18_000_000,
    36_000_000,
    50_400_000,
    72_000_000,
    72_000_000,
    'exhausted',
  ]);
  const hours = delays.reduce((sum: number, delay) => sum + (typeof delay === 'number' ? delay : 0), 0) / 3_600_000;
  assert.ok(hours > 70 && hours < 76, `${hours} hours`);
});

test('jitter makes a delay up to a fifth shorter or longer', () => {
  assert.equal(delayOf({ random: 0 }), 4_000);
  assert.equal(delayOf({ random: 1 }), 6_000);
});

test('Retry-After is respected up to twice the delay, and never shortens it', () => {
  assert.equal(delayOf({ retryAfterMs: 1_000 }), 5_000);
  assert.equal(delayOf({ retryAfterMs: 8_000 }), 8_000);
  assert.equal(delayOf({ retryAfterMs: 3_600_000 }), 10_000);
  assert.equal(delayOf({ times: 12, retryAfterMs: 1_000 }), 'exhausted');
});

test('D8.11: a typing event that failed twice is discarded', () => {
  assert.equal(delayOf({ type: typing }), 5_000);
  assert.equal(delayOf({ type: typing, times: 2 }), 'discarded');
});
