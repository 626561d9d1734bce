import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from './errors.ts';
import { addressKey, RateLimit } from './rate-limit.ts';

test('a window begins with the first taking and ends a minute later', () => {
  const limit = new RateLimit(2);
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

test('an IPv6 caller is counted by its /64, an IPv4 caller by its address, however written', () => {
  for (const [address, key] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['nonsense', 'nonsense'],
  ] as const) {
    assert.equal(addressKey(address), key);
  }
});
