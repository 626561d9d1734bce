import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionLimits, openFileLimit } from './connection-limits.ts';

test('the limits of sockets, feeds and shares follow from the limit of open files', () => {
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

test('the limit of open files is read from the system', () => {
  const limit = openFileLimit();
  assert.ok(limit >= 256, String(limit));
});
