import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionLimits, openFileLimit } from './connection-limits.ts';

test('sockets, feeds and shares follow from how many files the system lets the process open', () => {
  assert.deepEqual(connectionLimits(20_000), {
    connections: 17_500,
    connectionsPerAddress: 4_375,
    feeds: 14_000,
    visitorFeeds: 11_200,
  });
  assert.deepEqual(connectionLimits(Infinity), {
    connections: 50_000,
    connectionsPerAddress: 12_500,
    feeds: 20_000,
    visitorFeeds: 16_000,
  });
  assert.deepEqual(connectionLimits(1_024), {
    connections: 768,
    connectionsPerAddress: 192,
    feeds: 614,
    visitorFeeds: 491,
  });
  assert.equal(connectionLimits(256).connections, 64);
});

test('the system says how many files may be open', () => {
  const limit = openFileLimit();
  assert.ok(limit >= 256, String(limit));
});
