import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VisitorId } from '../../../platform/ids.ts';
import { Desk } from '../../../../../../test/support/board/desk.ts';

/** A board with one queue that admits every visitor, and no operators. */
function unstaffed(site: ConstructorParameters<typeof Desk>[0]): Desk {
  const desk = new Desk(site);
  desk.queue('queue', { whenUnstaffed: 'accept' });
  return desk;
}

const refusal = 'address_limit';

test('open tickets are limited per address and site; another address, another site and no address are not counted', () => {
  const desk = unstaffed({ openPerAddress: 2 });
  desk.site('other', { openPerAddress: 2 });
  desk.queue('elsewhere', { siteId: 'other' as never, whenUnstaffed: 'accept' });
  desk.enqueue('ann', { address: 'home' });
  desk.enqueue('ben', { address: 'home' });
  assert.equal(desk.refusal(() => desk.enqueue('cat', { address: 'home' })).code, refusal);
  desk.enqueue('dan', { address: 'office' });
  desk.enqueue('eve', { site: 'other', address: 'home' });
  for (const visitor of ['fay', 'gus', 'hal']) desk.enqueue(visitor);
  // Repeating the request returns the open ticket, which does not count twice.
  assert.equal(desk.enqueue('ann', { address: 'home' }).id, desk.ticket('ann').id);
});

test('a ticket counts while it is waiting or offered', () => {
  const desk = unstaffed({ openPerAddress: 1 });
  desk.enqueue('ann', { address: 'home' });
  desk.cancel('ann');
  desk.enqueue('ben', { address: 'home' });
  desk.operator('olga');
  assert.equal(desk.offered('ben'), 'olga');
  assert.equal(desk.refusal(() => desk.enqueue('cat', { address: 'home' })).code, refusal);
  desk.answer('olga', 'decline');
  assert.equal(desk.refusal(() => desk.enqueue('cat', { address: 'home' })).code, refusal);
  // There is no other operator, so olga gets the offer again.
  desk.answer('olga', 'accept');
  desk.enqueue('cat', { address: 'home' });
  assert.equal(desk.board.openByAddress.size, 1);
});

test('requests to operators count like tickets, so that an address cannot keep every operator ringing', () => {
  const desk = unstaffed({ openPerAddress: 2 });
  for (const operator of ['olga', 'otto', 'oona']) desk.operator(operator);
  desk.request('visitor', 'ann', 'olga', { address: 'home' });
  desk.request('visitor', 'ben', 'otto', { address: 'home' });
  assert.equal(desk.refusal(() => desk.request('visitor', 'cat', 'oona', { address: 'home' })).code, refusal);
  assert.equal(desk.refusal(() => desk.enqueue('cat', { address: 'home' })).code, refusal);
  desk.answer('olga', 'decline');
  desk.request('visitor', 'cat', 'oona', { address: 'home' });
});

test('a ticket that needs presence ends after a minute unless the visitor renews their presence', () => {
  const desk = unstaffed({ ticketNeedsPresence: true });
  desk.enqueue('silent');
  desk.enqueue('alive');
  desk.wait(30);
  desk.visitorPresent('alive', 60);
  desk.wait(29);
  assert.equal(desk.ticket('silent').state, 'waiting');
  desk.wait(1);
  assert.deepEqual([desk.ticket('silent').state, desk.ticket('alive').state], ['visitor_left', 'waiting']);
  desk.wait(30);
  assert.equal(desk.ticket('alive').state, 'visitor_left');
});

test('while a ticket needs presence a visitor’s lease lasts at most two minutes; otherwise it lasts as set', () => {
  const desk = unstaffed({ ticketNeedsPresence: true });
  desk.site('other');
  desk.queue('elsewhere', { siteId: 'other' as never, whenUnstaffed: 'accept' });
  // A long lease from a site whose tickets need no presence is cut to one minute here.
  desk.enqueue('ann', { leaseUntil: desk.now + 86_400_000 });
  desk.wait(60);
  assert.equal(desk.ticket('ann').state, 'visitor_left');
  desk.enqueue('ben');
  desk.visitorPresent('ben', 86_400);
  desk.wait(119);
  assert.equal(desk.ticket('ben').state, 'waiting');
  desk.wait(1);
  assert.equal(desk.ticket('ben').state, 'visitor_left');
  desk.enqueue('cat', { site: 'other' });
  desk.visitorPresent('cat', 600);
  desk.wait(599);
  assert.equal(desk.ticket('cat').state, 'waiting');
});

test('an open feed keeps a ticket that needs presence; the offer of a visitor who left fails as visitor_left', () => {
  const desk = unstaffed({ ticketNeedsPresence: true, reactiveMs: 600_000 });
  desk.enqueue('ann');
  for (let renewals = 0; renewals < 20; renewals += 1) {
    desk.wait(10);
    desk.ask({ name: 'renewPresence', operatorIds: [], visitorIds: ['ann' as VisitorId], leaseMs: 30_000 });
  }
  assert.equal(desk.ticket('ann').state, 'waiting');
  desk.operator('olga');
  desk.takePayloads();
  desk.wait(60);
  assert.equal(desk.ticket('ann').state, 'visitor_left');
  assert.match(JSON.stringify(desk.takePayloads()), /engagement\.request\.failure.*"fail_reason":"visitor_left"/);
});

test('by default no ticket needs presence', () => {
  const desk = unstaffed({});
  desk.enqueue('ann');
  desk.wait(3_600);
  assert.equal(desk.ticket('ann').state, 'waiting');
});
