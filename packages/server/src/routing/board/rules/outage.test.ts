import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, SiteId } from '../../../platform/ids.ts';
import { takeChanges } from '../board.ts';
import { Desk, siteNamed } from '../../../../../../test/support/board/desk.ts';
import { putSite } from '../../storage/site.ts';
import { excuseOutage } from './outage.ts';

/** D5.15: time in which no process reached the database does not count for leases, grace periods and offers. */

const outages = [5, 24, 35, 75, 300, 3_600];

/** An operator with a lease of 30 s in a queue that needs staff. */
function staffed(): Desk {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue');
  desk.present('ann', true, 30);
  return desk;
}

function isPresent(desk: Desk, operator: string): boolean | undefined {
  return desk.board.operators.get(operator as OperatorId)?.present;
}

test('after an outage, a conversation and a ticket go on, and clients have as much time to come back as before', () => {
  for (const outage of outages) {
    const desk = staffed();
    desk.engage('vic', 'ann');
    desk.enqueue('wes');
    for (const visitor of ['vic', 'wes']) desk.visitorPresent(visitor, 30);
    desk.wait(10);
    desk.outage(outage);
    desk.wait(19);
    desk.renew(['ann'], ['vic', 'wes']);
    desk.wait(29);
    assert.deepEqual([isPresent(desk, 'ann'), desk.ticket('wes').state], [true, 'waiting'], `${outage} s`);
    assert.equal(desk.engagement('vic').endedAt, null, `${outage} s`);
  }
});

test('who does not come back has left when the rest of the lease is over', () => {
  for (const outage of outages) {
    const desk = staffed();
    desk.engage('vic', 'ann');
    desk.enqueue('wes');
    for (const visitor of ['vic', 'wes']) desk.visitorPresent(visitor, 30);
    desk.wait(10);
    desk.outage(outage);
    desk.renew(['ann']);
    desk.wait(19);
    assert.equal(desk.ticket('wes').state, 'waiting');
    desk.wait(1);
    assert.equal(desk.ticket('wes').state, 'visitor_left');
    desk.renew(['ann']);
    desk.wait(29);
    assert.equal(desk.engagement('vic').endedAt, null);
    desk.wait(1);
    assert.equal(desk.board.engagements.size, 0);
  }
});

test('an operator who does not come back loses the conversation and the queue, a lease and a grace period later', () => {
  const desk = staffed();
  desk.engage('vic', 'ann');
  desk.enqueue('wes');
  desk.outage(300);
  desk.wait(29);
  assert.deepEqual([isPresent(desk, 'ann'), desk.ticket('wes').state], [true, 'waiting']);
  desk.wait(1);
  assert.deepEqual([isPresent(desk, 'ann'), desk.ticket('wes').state], [false, 'unstaffed']);
  desk.wait(29);
  assert.equal(desk.engagement('vic').endedAt, null);
  desk.wait(1);
  assert.equal(desk.board.engagements.size, 0);
});

test('a grace period that an outage interrupts continues after it', () => {
  const desk = staffed();
  desk.engage('vic', 'ann');
  desk.wait(40);
  desk.outage(75);
  desk.wait(19);
  assert.equal(desk.engagement('vic').endedAt, null);
  desk.renew(['ann']);
  desk.wait(29);
  assert.equal(desk.engagement('vic').endedAt, null);
  desk.wait(60);
  assert.equal(desk.board.engagements.size, 0);
});

test('an offer has as much time left as before the outage, and is then missed', () => {
  for (const outage of outages) {
    const desk = new Desk();
    desk.operator('ann');
    desk.queue('queue', { whenUnstaffed: 'accept' });
    desk.enqueue('vic');
    desk.wait(12);
    desk.outage(outage);
    desk.wait(17);
    assert.equal(desk.offered('vic'), 'ann');
    assert.equal(desk.pending('ann').timeoutMs, 30_000 + outage * 1_000);
    desk.wait(1);
    assert.equal(desk.offered('vic'), null);
    assert.equal(isPresent(desk, 'ann'), false);
  }
});

test('a transfer and a direct request are not lost in an outage', () => {
  const desk = staffed();
  desk.operator('bob');
  desk.present('bob', true, 30);
  desk.engage('vic', 'ann');
  desk.transferTo('bob', desk.engagement('vic'));
  desk.outage(35);
  desk.answer('bob', 'accept');
  assert.equal(desk.engagement('vic').operator.settings.id, 'bob');
  desk.request('visitor', 'wes', 'ann');
  desk.outage(35);
  desk.answer('ann', 'accept');
  assert.equal(desk.engagement('wes').operator.settings.id, 'ann');
});

test('waiting time includes an outage: a ticket expires by the time-out of the site', () => {
  const desk = staffed();
  putSite(desk.board, siteNamed('site', { ticketTimeoutMs: 60_000 }));
  desk.engage('vic', 'ann');
  desk.enqueue('wes');
  desk.outage(35);
  assert.equal(desk.ticket('wes').state, 'waiting');
  desk.renew(['ann']);
  desk.outage(35);
  assert.equal(desk.ticket('wes').state, 'expired');
});

test('what began after the end of a lease does not end with the lease, even if an outage prolongs its grace period', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.queue('queue', { whenUnstaffed: 'accept' });
  desk.site('other');
  desk.engage('vic', 'ann');
  desk.visitorPresent('vic', 10);
  desk.wait(20);
  // The visitor, who shows no presence, asks another operator.
  desk.operator('bob', { sites: new Map([['other' as SiteId, new Set()]]) });
  desk.queue('elsewhere', { siteId: 'other' as SiteId, whenUnstaffed: 'accept' });
  desk.present('bob', false);
  desk.enqueue('vic', { site: 'other', queues: ['elsewhere'] });
  desk.outage(300);
  desk.wait(60);
  assert.equal(desk.board.engagements.size, 0);
  assert.equal(desk.ticket('vic').state, 'waiting');
});

test('a lease that ended long before the outage is not touched', () => {
  const desk = staffed();
  desk.wait(100);
  const { leaseUntil } = desk.board.operators.get('ann' as OperatorId)?.settings ?? assert.fail();
  desk.outage(300);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.settings.leaseUntil, leaseUntil);
  assert.equal(isPresent(desk, 'ann'), false);
});

test('an outage writes the leases and offers it concerns, and notifies nobody of presence that has not changed', () => {
  const desk = staffed();
  desk.operator('bob');
  desk.enqueue('vic');
  desk.visitorPresent('vic', 30);
  excuseOutage(desk.board, { outageMs: 35_000, lastTurnAt: desk.now });
  const { renewals, visitorLeases, requests, presences, states, events } = takeChanges(desk.board);
  assert.deepEqual([renewals.size, visitorLeases.size, requests.size], [1, 1, 1]);
  assert.deepEqual([presences.size, states.size, events.length], [0, 0, 0]);
});
