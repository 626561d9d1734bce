import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueTicket } from '@usher/client/api-types';
import { bytesInWords, offlineInWords, positionInWords, waitInWords } from './texts.ts';

/** Of a chat, at this place. */
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

test('only who can be served now is told to be next in line', () => {
  assert.equal(positionInWords({ ticket: ticket(1), staffed: ['text'] }), 'You are next in line');
  for (const staffed of [null, [], ['audio'] as const])
    assert.equal(positionInWords({ ticket: ticket(1), staffed }), 'You are first in line');
  assert.equal(positionInWords({ ticket: ticket(3), staffed: [] }), 'You are number 3 in line');
  assert.equal(positionInWords({ ticket: ticket(null), staffed: [] }), 'Looking for somebody to help you');
});

test('that we are offline is said with the time when we are back, if that is known', () => {
  const now = new Date(2026, 2, 4, 18, 30);
  const back = (...at: readonly [number, number, number]): string =>
    offlineInWords(new Date(2026, at[0], at[1], at[2]).toISOString(), now).replaceAll(/\s/g, ' ');
  assert.equal(offlineInWords(null, now), "We're offline right now.");
  assert.equal(back(2, 4, 20), "We're offline right now. We're back at 8:00 PM.");
  assert.equal(back(2, 5, 9), "We're offline right now. We're back tomorrow at 9:00 AM.");
  assert.equal(back(2, 9, 9), "We're offline right now. We're back on Monday at 9:00 AM.");
  assert.equal(back(2, 16, 9), "We're offline right now. We're back on March 16 at 9:00 AM.");
});

test('an estimated wait is rounded up to minutes or hours', () => {
  assert.equal(waitInWords(null), null);
  assert.equal(waitInWords(0), 'Usually less than a minute');
  assert.equal(waitInWords(60), 'About 1 minute');
  assert.equal(waitInWords(61), 'About 2 minutes');
  assert.equal(waitInWords(3_600), 'About 1 hour');
  assert.equal(waitInWords(7_000), 'About 2 hours');
});

test('sizes in words', () => {
  assert.deepEqual([12, 1_500, 2_340_000].map(bytesInWords), ['12 B', '2 KB', '2.3 MB']);
});
