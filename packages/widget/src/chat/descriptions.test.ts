import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueTicket } from '@usher/sdk/api-types';
import { formatBytes, describeOffline, describePosition, describeWait } from './descriptions.ts';

/** A ticket for a chat, at this position. */
function ticket(position: number | null): QueueTicket {
  return {
    id: 't',
    site_id: 's',
    visitor_id: 'v',
    media: 'text',
    queue_ids: ['q'],
    state: 'waiting',
    position,
    estimated_wait_sec: null,
    engagement_id: null,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
}

test('a visitor is next in line only if an online operator can serve them', () => {
  assert.equal(describePosition({ ticket: ticket(1), staffedMedia: ['text'] }), 'You are next in line');
  for (const staffedMedia of [null, [], ['audio'] as const])
    assert.equal(describePosition({ ticket: ticket(1), staffedMedia }), 'You are first in line');
  assert.equal(describePosition({ ticket: ticket(3), staffedMedia: [] }), 'You are number 3 in line');
  assert.equal(describePosition({ ticket: ticket(null), staffedMedia: [] }), 'Finding someone to help you');
});

test('the offline text says when we are back, if that is known', () => {
  const now = new Date(2026, 2, 4, 18, 30);
  const back = (...at: readonly [number, number, number]): string =>
    describeOffline(new Date(2026, at[0], at[1], at[2]).toISOString(), now).replaceAll(/\s/g, ' ');
  assert.equal(describeOffline(null, now), "We're offline right now.");
  assert.equal(back(2, 4, 20), "We're offline right now. We're back at 8:00 PM.");
  assert.equal(back(2, 5, 9), "We're offline right now. We're back tomorrow at 9:00 AM.");
  assert.equal(back(2, 9, 9), "We're offline right now. We're back on Monday at 9:00 AM.");
  assert.equal(back(2, 16, 9), "We're offline right now. We're back on March 16 at 9:00 AM.");
});

test('an estimated wait is rounded up to minutes or hours', () => {
  assert.equal(describeWait(null), null);
  assert.equal(describeWait(0), 'Usually less than a minute');
  assert.equal(describeWait(60), 'About 1 minute');
  assert.equal(describeWait(61), 'About 2 minutes');
  assert.equal(describeWait(3_600), 'About 1 hour');
  assert.equal(describeWait(7_000), 'About 2 hours');
});

test('file sizes are rounded to bytes, kilobytes or megabytes', () => {
  assert.deepEqual([12, 1_500, 2_340_000].map(formatBytes), ['12 B', '2 KB', '2.3 MB']);
});
