import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Medium } from '@usher/contract/media';
import type { OperatorId, QueueId, RequestId, TicketId } from '../../../platform/ids.ts';
import type { Engagement, Site } from '../structures/state.ts';
import { Desk, notes } from '../../../../../../test/support/board/desk.ts';

/** Ann takes three visitors at a time. */
function staffed(site: Partial<Site> = {}): Desk {
  const desk = new Desk(site);
  desk.queue('sales');
  desk.operator('ann', { maxEngagements: 3 });
  return desk;
}

/** The visitor accepts an invitation to an audio call. */
function acceptCall(desk: Desk, engagement: Engagement): void {
  const { id: engagementId, subEngagementId, visitor } = engagement;
  const by = { kind: 'visitor', id: visitor.id } as const;
  const asked = { id: `upgrade of ${engagementId}`, subEngagementId, audio: 'two_way', video: null } as const;
  const upgrade = { ...asked, target: 'visitor', pending: true, undelivered: false } as const;
  desk.ask({ name: 'acceptUpgrade', engagementId, upgradeId: upgrade.id, by, upgrade });
}

function hangUp(desk: Desk, { id: engagementId, visitor, call }: Engagement): void {
  assert(call !== null);
  desk.ask({ name: 'endCall', engagementId, callId: call.id, by: { kind: 'visitor', id: visitor.id } });
}

function checkCall(desk: Desk, { id: engagementId, operator }: Engagement): void {
  desk.ask({ name: 'checkCall', engagementId, by: { kind: 'operator', id: operator.settings.id } });
}

test('D4.4 an engagement becomes a call beside other engagements, and the next offers wait until the call ends', () => {
  const desk = staffed();
  desk.engage('vic', 'ann');
  desk.engage('wes', 'ann');
  const engagement = desk.engagement('vic');
  checkCall(desk, engagement);
  acceptCall(desk, engagement);
  assert.deepEqual([engagement.medium, desk.engagement('wes').medium], ['audio', 'text']);
  desk.enqueue('xan');
  assert.equal(desk.offered('xan'), null);
  hangUp(desk, engagement);
  assert.equal(desk.offered('xan'), 'ann');
});

test('D4.4 an operator is in one call at a time, also beside other engagements', () => {
  const desk = staffed();
  desk.engage('vic', 'ann');
  desk.engage('wes', 'ann');
  const other = desk.engagement('wes');
  acceptCall(desk, desk.engagement('vic'));
  checkCall(desk, desk.engagement('vic'));
  assert.equal(desk.refusal(() => checkCall(desk, other)).code, 'operator_unavailable');
  assert.equal(desk.refusal(() => acceptCall(desk, other)).code, 'operator_unavailable');
});

test('D4.4 a site without calls beside chats refuses a call while its operator has another engagement or offer', () => {
  const desk = staffed({ callsBesideChats: false });
  desk.engage('vic', 'ann');
  const engagement = desk.engagement('vic');
  desk.enqueue('wes');
  assert.equal(desk.refusal(() => checkCall(desk, engagement)).code, 'operator_unavailable');
  desk.answer('ann', 'accept');
  assert.equal(desk.refusal(() => acceptCall(desk, engagement)).code, 'operator_unavailable');
  desk.end(desk.engagement('wes'), 'visitor');
  checkCall(desk, engagement);
  acceptCall(desk, engagement);
  assert.equal(engagement.medium, 'audio');
});

test('only a party of the engagement learns whether it can become a call', () => {
  const desk = staffed();
  desk.engage('vic', 'ann');
  const { id: engagementId } = desk.engagement('vic');
  const by = { kind: 'operator', id: 'ben' as OperatorId } as const;
  assert.equal(desk.ask({ name: 'checkCall', engagementId, by }), null);
});

/** Begins a transfer of a call with this medium. */
function transfer(desk: Desk, engagement: Engagement, to: 'ben' | 'second line', medium: Medium): void {
  const { id: engagementId, operator } = engagement;
  const shared = { engagementId, by: operator.settings.id, medium, notes };
  if (to === 'ben')
    desk.ask({
      name: 'transferToOperator',
      id: 'transfer' as RequestId,
      operatorId: to as string as OperatorId,
      ...shared,
    });
  else {
    const facts = { siteId: engagement.siteId, teams: [], leaseUntil: null, lastOperatorId: null };
    desk.ask({
      name: 'transferToQueue',
      id: 'transfer' as TicketId,
      queueId: to as string as QueueId,
      facts,
      ...shared,
    });
  }
}

for (const to of ['ben', 'second line'] as const)
  test(`D5.4 a call that is being transferred to ${to} arrives as a chat if somebody hangs up before`, () => {
    const desk = staffed();
    desk.operator('ben', { maxEngagements: 2 });
    if (to !== 'ben') desk.queue(to);
    desk.engage('vic', 'ann', { medium: 'audio' });
    const engagement = desk.engagement('vic');
    transfer(desk, engagement, to, 'audio');
    assert.equal(desk.pending('ben').medium, 'audio');
    hangUp(desk, engagement);
    assert.equal(desk.pending('ben').medium, 'text');
    // Ben is no longer reserved for a call.
    desk.enqueue('wes');
    desk.enqueue('xan');
    desk.enqueue('yve');
    const offered = ['wes', 'xan', 'yve'].map((name) => desk.offered(name));
    assert.equal(offered.filter((name) => name === 'ben').length, 1);
    desk.cancel('wes');
    desk.cancel('xan');
    desk.cancel('yve');
    desk.answer('ben', 'accept');
    assert.deepEqual([engagement.operator.settings.id, engagement.medium, engagement.call], ['ben', 'text', null]);
  });

test('D5.4 a call that waits in a queue for a transfer is offered as a chat after somebody hung up', () => {
  const desk = staffed();
  desk.queue('second line');
  desk.operator('ben');
  desk.engage('vic', 'ann', { medium: 'audio' });
  desk.engage('wes', 'ben');
  const engagement = desk.engagement('vic');
  transfer(desk, engagement, 'second line', 'audio');
  assert.equal(desk.ticket('vic').state, 'waiting');
  hangUp(desk, engagement);
  assert.equal(desk.ticket('vic').medium, 'text');
  desk.end(desk.engagement('wes'), 'visitor');
  assert.equal(desk.pending('ben').medium, 'text');
  desk.answer('ben', 'accept');
  assert.deepEqual([engagement.operator.settings.id, engagement.call], ['ben', null]);
});

test('D5.4 a chat that is transferred as a call stays a call', () => {
  const desk = staffed();
  desk.operator('ben');
  desk.engage('vic', 'ann');
  const engagement = desk.engagement('vic');
  transfer(desk, engagement, 'ben', 'audio');
  desk.answer('ben', 'accept');
  assert.notEqual(engagement.call, null);
});
