import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueueId } from '../../../platform/ids.ts';
import { Desk, hoursOf } from '../../../../../../test/support/board/desk.ts';

/** Waiting tickets: D3.5–D3.7. */

const to = (queue: string) => ({ fallbackId: queue as QueueId });
/** Open for the first five minutes of the test. */
const earlyHours = hoursOf(['00:00', '09:00']);

function moves({ visits }: Desk): string[] {
  return visits.map(({ queueId, ticketId, outcome }) => `${ticketId} ${outcome} ${queueId}`);
}

test('D3.5 when a queue closes, its waiting visitors move to the first fallback that admits them and keep their waiting time', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('small', { capacityPolicy: { type: 'fixed', capacity: 1 }, ...to('large') });
  desk.queue('large');
  desk.queue('queue', { hours: earlyHours, ...to('small') });
  desk.engage('una', 'ann', { queues: ['queue'] });
  const [vic, wes] = [desk.enqueue('vic', { queues: ['queue'] }), desk.enqueue('wes', { queues: ['queue'] })];
  desk.wait(299);
  desk.enqueue('xan', { queues: ['large'] });
  desk.visits.splice(0);
  desk.wait(1);
  assert.deepEqual([desk.ticket('vic').queueIds, desk.ticket('wes').queueIds], [['small'], ['large']]);
  assert.deepEqual(moves(desk), [`${vic.id} moved queue`, `${wes.id} moved queue`]);
  assert.deepEqual([desk.ticket('wes').position, desk.ticket('xan').position], [1, 2]);
  assert.equal(desk.ticket('wes').enqueuedAt, wes.enqueuedAt);
});

test('D3.5 a closed queue without an admitting fallback keeps its visitors, and available operators take them', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue', { hours: earlyHours });
  desk.engage('una', 'ann');
  desk.enqueue('vic');
  desk.wait(300);
  assert.equal(desk.ticket('vic').state, 'waiting');
  desk.end(desk.engagement('una'), 'operator');
  assert.equal(desk.offered('vic'), 'ann');
});

test('D3.5 an unstaffed queue that rejects ends its tickets as unstaffed; one that accepts keeps them', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('strict');
  desk.queue('patient', { whenUnstaffed: 'accept' });
  desk.engage('una', 'ann', { queues: ['strict'] });
  desk.enqueue('vic', { queues: ['strict'] });
  desk.enqueue('wes', { queues: ['patient'] });
  desk.enqueue('xan', { queues: ['strict', 'patient'] });
  desk.takePayloads();
  desk.present('ann', false);
  assert.deepEqual(
    [desk.ticket('vic').state, desk.ticket('wes').state, desk.ticket('xan').queueIds],
    ['unstaffed', 'waiting', ['patient']],
  );
  assert.deepEqual(desk.takePayloads(), [], 'D5.1: a ticket that was never offered ends without an event');
});

test('D3.5 a ticket that is already in the fallback only leaves the closed queue', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('other', { capacityPolicy: { type: 'fixed', capacity: 1 } });
  desk.queue('queue', { hours: earlyHours, ...to('other') });
  desk.engage('una', 'ann', { queues: ['queue'] });
  desk.enqueue('vic', { queues: ['queue', 'other'] });
  desk.wait(300);
  assert.deepEqual(desk.ticket('vic').queueIds, ['other']);
});

test('D3.5 an offered ticket is rerouted when its offer fails', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  desk.queue('other');
  desk.queue('queue', { hours: earlyHours, ...to('other') });
  desk.wait(290);
  desk.enqueue('vic', { queues: ['queue'] });
  desk.wait(15);
  assert.deepEqual([desk.ticket('vic').queueIds, desk.offered('vic')], [['queue'], 'ann']);
  desk.answer('ann', 'decline');
  assert.deepEqual(
    [desk.ticket('vic').queueIds, desk.offered('vic'), desk.offeredFrom('vic')],
    [['other'], 'ben', 'other'],
  );
});

test('D3.5 when the last operator leaves with an offer, the offer fails and its ticket ends as unstaffed', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  desk.enqueue('vic');
  desk.present('ann', false);
  assert.equal(desk.ticket('vic').state, 'unstaffed');
  assert.equal(desk.takePayloads().length, 1);
});

test('D3.6, D3.10 a ticket expires after its time-out; an offered ticket expires when its offer fails', () => {
  const desk = new Desk({ ticketTimeoutMs: 40_000, missedMakesUnavailable: false });
  desk.operator('ann');
  desk.queue('queue');
  desk.wait(1);
  desk.enqueue('vic');
  desk.enqueue('wes');
  desk.wait(20);
  desk.answer('ann', 'decline');
  assert.equal(desk.offered('vic'), 'ann', 'no other operator can take the ticket');
  desk.wait(20);
  assert.deepEqual([desk.ticket('vic').state, desk.ticket('wes').state], ['offered', 'expired']);
  desk.wait(10);
  assert.equal(desk.ticket('vic').state, 'expired');
});

test('D3.6 a visitor or an operator cancels a ticket that is waiting or offered', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  desk.enqueue('vic');
  desk.enqueue('wes');
  desk.cancel('wes');
  desk.cancel('vic', 'operator');
  assert.deepEqual([desk.ticket('vic').state, desk.ticket('wes').state], ['canceled', 'canceled']);
  const reasons = desk.events.map(
    ({ type, fields }) => type === 'engagement.request.failure' && fields.engagement_request.fail_reason,
  );
  assert.deepEqual(reasons, ['operator_cancel'], 'D5.1: there is an event only for the ticket that was offered');
});

test('D3.7, D3.8 the position is that in the best queue of the ticket, and null unless the ticket is waiting', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('long');
  desk.queue('short');
  desk.engage('una', 'ann', { queues: ['long'] });
  assert.equal(desk.enqueue('vic', { queues: ['long'] }).position, 1);
  assert.equal(desk.enqueue('wes', { queues: ['long'] }).position, 2);
  assert.equal(desk.enqueue('xan', { queues: ['long', 'short'] }).position, 1);
  desk.cancel('vic');
  assert.deepEqual([desk.ticket('vic').position, desk.ticket('wes').position], [null, 1]);
});

test('D3.7 the estimate is the position times the recent pace, and null while the pace is unknown', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  desk.engage('una', 'ann');
  for (const visitor of ['vic', 'wes', 'xan', 'yve']) desk.enqueue(visitor);
  assert.equal(desk.ticket('vic').estimatedWaitMs, null);
  desk.end(desk.engagement('una'), 'operator');
  desk.answer('ann', 'accept');
  desk.wait(100);
  desk.end(desk.engagement('vic'), 'operator');
  desk.answer('ann', 'accept');
  assert.deepEqual([desk.ticket('xan').estimatedWaitMs, desk.ticket('yve').estimatedWaitMs], [100_000, 200_000]);
  desk.end(desk.engagement('wes'), 'operator');
  assert.equal(desk.ticket('xan').estimatedWaitMs, 0, 'under offer');
});
