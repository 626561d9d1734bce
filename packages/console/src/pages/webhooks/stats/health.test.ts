import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from './health.ts';

const now = Date.parse('2026-11-16T12:00:00Z');
const secondsAgo = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();

test('a receiver that fails every other attempt keeps one status while a delivery waits for its retry', () => {
  // The server clears failing_since with each success and sets it with each failure.
  const attempts = [secondsAgo(2), null, secondsAgo(1), null];
  const seen = attempts.map((failing_since) => healthOf({ enabled: true, failing_since }, { retrying: 1 }, now));
  assert.deepEqual(seen, ['retrying', 'retrying', 'retrying', 'retrying']);
});

test('a webhook is failing after a minute without a success, and on once everything has arrived', () => {
  const health = (failing_since: string | null, retrying: number, enabled = true): string =>
    healthOf({ enabled, failing_since }, { retrying }, now);
  assert.equal(health(secondsAgo(59), 1), 'retrying');
  assert.equal(health(secondsAgo(60), 1), 'failing');
  // The failed delivery was discarded or its event expired: still nothing has arrived.
  assert.equal(health(secondsAgo(3_600), 0), 'failing');
  assert.equal(health(null, 0), 'on');
  assert.equal(health(secondsAgo(3_600), 1, false), 'off');
  assert.equal(healthOf({ enabled: true, failing_since: null }, undefined, now), 'on');
});
