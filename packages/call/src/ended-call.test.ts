import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedCallInWords } from './ended-call.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 10) + seconds * 1_000).toISOString();

test('a call that was connected says how long it lasted', () => {
  const lasting = (seconds: number) =>
    endedCallInWords({ connected_at: at(0), ended_at: at(seconds), ended_by: 'visitor' });
  assert.equal(lasting(0), 'Call ended · 0:00');
  assert.equal(lasting(42), 'Call ended · 0:42');
  assert.equal(lasting(600), 'Call ended · 10:00');
  assert.equal(lasting(3_725), 'Call ended · 1:02:05');
});

test('a call that was never connected was missed, unless it ended with something else', () => {
  assert.equal(endedCallInWords({ connected_at: null, ended_at: at(30), ended_by: 'operator' }), 'Missed call');
  assert.equal(endedCallInWords({ connected_at: null, ended_at: at(30), ended_by: null }), null);
  assert.equal(endedCallInWords({ connected_at: at(0), ended_at: at(5), ended_by: null }), 'Call ended · 0:05');
  assert.equal(endedCallInWords({ connected_at: at(0), ended_at: null, ended_by: null }), null);
});
