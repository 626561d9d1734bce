import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inUnits, whyOf } from './status-words.ts';

const queue = { status: 'opened', self_status: 'opened', capacity: 4, visitors_count: 0 } as const;

test('each status has its reason', () => {
  assert.equal(whyOf(queue, null), 'Nobody waits');
  assert.equal(whyOf({ ...queue, visitors_count: 3 }, null), '3 of 4 places taken');
  assert.equal(
    whyOf({ ...queue, status: 'full', self_status: 'full', visitors_count: 4 }, null),
    '4 of 4 places taken',
  );
  assert.equal(whyOf({ ...queue, status: 'full', self_status: 'full', capacity: 0 }, null), 'It has no places now');
  assert.equal(whyOf({ ...queue, status: 'closed', self_status: 'closed' }, 'B'), 'Outside its hours');
  assert.equal(whyOf({ ...queue, self_status: 'unstaffed' }, 'B'), 'Nobody staffs it; visitors go on to B');
  assert.equal(whyOf({ ...queue, self_status: 'closed' }, null), 'Outside its hours; visitors go on to its fallback');
});

test('lengths of time are told by their two largest units', () => {
  assert.deepEqual([0, 45, 60, 5_400, 90_061, 345_600].map(inUnits), [
    '0 s',
    '45 s',
    '1 min',
    '1 h 30 min',
    '1 d 1 h',
    '4 d',
  ]);
});
