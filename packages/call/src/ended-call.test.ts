import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeEndedCall } from './ended-call.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 10) + seconds * 1_000).toISOString();

test('an ended call that was connected shows how long it lasted', () => {
  const describe = (seconds: number) =>
    describeEndedCall({ connected_at: at(0), ended_at: at(seconds), ended_by: 'visitor' });
  assert.equal(describe(0), 'Call ended · 0:00');
  assert.equal(describe(42), 'Call ended · 0:42');
  assert.equal(describe(600), 'Call ended · 10:00');
  assert.equal(describe(3_725), 'Call ended · 1:02:05');
});

test('a call that never connected is shown as missed, unless it ended by a transfer or with the conversation', () => {
  assert.equal(describeEndedCall({ connected_at: null, ended_at: at(30), ended_by: 'operator' }), 'Missed call');
  assert.equal(describeEndedCall({ connected_at: null, ended_at: at(30), ended_by: null }), null);
  assert.equal(describeEndedCall({ connected_at: at(0), ended_at: at(5), ended_by: null }), 'Call ended · 0:05');
  assert.equal(describeEndedCall({ connected_at: at(0), ended_at: null, ended_by: null }), null);
});
