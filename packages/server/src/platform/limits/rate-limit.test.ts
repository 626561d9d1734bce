import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unshared } from '../../../../../test/support/unshared-uses.ts';
import { Refusal } from '../errors.ts';
import { AddressRate, addressKey, RateLimit } from './rate-limit.ts';
import { TokenBuckets } from './token-buckets.ts';

test('a window begins with the first use and ends a minute later', () => {
  const limit = new RateLimit('any', 2, unshared);
  limit.take('a', 0);
  limit.take('a', 59_999);
  assert.throws(
    () => limit.take('a', 59_999),
    (error) => error instanceof Refusal && error.headers['retry-after'] === '1',
  );
  limit.take('b', 59_999);
  limit.take('a', 60_000);
  limit.take('a', 60_000);
  assert.throws(() => limit.take('a', 60_001), Refusal);
});

test('an IPv6 caller is counted by its /64, an IPv4 caller by its address, in any spelling', () => {
  for (const [address, key] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0000:0::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['nonsense', 'nonsense'],
  ] as const) {
    assert.equal(addressKey(address), key);
  }
});

test('a bucket allows its burst at once, then its refill rate, independently of other keys', () => {
  const buckets = new TokenBuckets('any', unshared);
  const rate = { perMinute: 60, burst: 3 };
  const taken = (key: string, times: number, now: number): number[] =>
    Array.from({ length: times }, () => buckets.take(key, rate, now));
  assert.deepEqual(taken('a', 5, 0), [0, 0, 0, 1_000, 1_000]);
  assert.deepEqual(taken('b', 1, 0), [0]);
  assert.deepEqual(taken('a', 2, 600), [400, 400]);
  assert.deepEqual(taken('a', 2, 1_000), [0, 1_000]);
  // A bucket never holds more than its burst, however long it was unused.
  assert.deepEqual(taken('a', 4, 3_600_000), [0, 0, 0, 1_000]);
});

test('all visitors of one IP address share one limit', () => {
  const rate = new AddressRate(60, unshared);
  for (let taken = 0; taken < 30; taken += 1) rate.take('2001:db8::1', 0);
  assert.throws(
    () => rate.take('2001:db8::2', 0),
    (error) => error instanceof Refusal && error.code === 'rate_limited' && error.headers['retry-after'] === '1',
  );
  rate.take('2001:db8:0:1::1', 0);
  rate.take('2001:db8::2', 1_000);
});
