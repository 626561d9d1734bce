import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeQueue, isOpen, isUnattended, overflows, reasonOf, type QueueFacts } from './queue-status.ts';

const queue: QueueFacts = {
  status: 'opened',
  self_status: 'opened',
  capacity: 4,
  visitors_count: 0,
  staffed: true,
};

test('every status has one reason', () => {
  assert.equal(reasonOf(queue), '');
  assert.equal(reasonOf({ ...queue, staffed: false }), 'No operators online; visitors can still join');
  assert.equal(reasonOf({ ...queue, self_status: 'closed' }), 'Outside opening hours');
  assert.equal(reasonOf({ ...queue, self_status: 'unstaffed', staffed: false }), 'No operators online');
  assert.equal(reasonOf({ ...queue, self_status: 'full' }), 'At capacity');
  assert.equal(reasonOf({ ...queue, self_status: 'full', capacity: 0 }), 'Capacity is 0');
  assert.match(reasonOf({ ...queue, self_status: 'full', capacity: 0, staffed: false }), /no operators online$/);
});

test('a queue that overflows is not open, and its description names the fallback', () => {
  const closed = { ...queue, self_status: 'closed', visitors_count: 2 } as const;
  assert.deepEqual([isOpen(closed), overflows(closed)], [false, true]);
  assert.equal(describeQueue(closed, 'B'), 'Outside opening hours · 2 waiting · overflows to B');
  assert.match(describeQueue(closed, null), /overflows to its fallback$/);
  assert.equal(describeQueue({ ...closed, status: 'closed' }, 'B'), 'Outside opening hours · 2 waiting');
  assert.equal(describeQueue(queue, null), 'Empty');
});

test('visitors who wait while no operator is online are unattended, whatever the status of the queue', () => {
  assert.equal(isUnattended({ ...queue, visitors_count: 1 }), false);
  assert.equal(isUnattended({ ...queue, staffed: false }), false);
  assert.equal(isUnattended({ visitors_count: 1, staffed: false }), true);
});
