import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, RequestId, SiteId, VisitorId } from '../../../platform/ids.ts';
import { Desk, notes } from '../../../../../../test/support/board/desk.ts';

/** Lasting requests, which were sent to a phone and wait for a reply for days. */

let count = 0;

function text(desk: Desk, visitor: string, operator: string, leaseUntil: number | null = null): RequestId {
  const id = `text ${(count += 1)}` as RequestId;
  desk.ask({
    name: 'requestDirectly',
    id,
    origin: 'operator',
    siteId: 'site' as SiteId,
    visitorId: visitor as VisitorId,
    operatorId: operator as OperatorId,
    medium: 'text',
    facts: { siteId: 'site' as SiteId, teams: [], leaseUntil, lastOperatorId: null },
    notes: { ...notes, platform: 'sms' },
    address: null,
  });
  return id;
}

function reply(desk: Desk, visitor: string, requestId: RequestId): unknown {
  const by = { kind: 'visitor', id: visitor as VisitorId } as const;
  return desk.ask({ name: 'answer', requestId, action: 'accept', by, error: null });
}

function reasons(desk: Desk): unknown[] {
  return desk.takePayloads().map((event) => (event as { engagement_request?: { fail_reason: string } }).engagement_request?.fail_reason); // prettier-ignore
}

test('D4.7, D12.1 a lasting request does not occupy its operator, but the engagement that it becomes does', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 2 });
  desk.queue('queue', { whenUnstaffed: 'accept' });
  const id = text(desk, 'vic', 'ann');
  desk.enqueue('wes', { medium: 'phone' });
  assert.equal(desk.offered('wes'), 'ann');
  desk.cancel('wes');
  assert.notEqual(reply(desk, 'vic', id), null);
  desk.enqueue('wes', { medium: 'phone' });
  assert.equal(desk.offered('wes'), null);
  desk.end(desk.engagement('vic'), 'visitor');
  assert.equal(desk.offered('wes'), 'ann');
});

test('a reply starts an engagement even if the operator is busy or away', () => {
  const desk = new Desk();
  desk.operator('ann', { available: false });
  const [first, second] = [text(desk, 'una', 'ann'), text(desk, 'vic', 'ann')];
  reply(desk, 'una', first);
  reply(desk, 'vic', second);
  assert.equal(desk.engagement('una').operator, desk.engagement('vic').operator);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.texts, 2);
  desk.wait(86_400);
  desk.end(desk.engagement('una'), 'operator');
  desk.end(desk.engagement('vic'), 'visitor');
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.texts, 0);
});

test('a lasting request outlives the presence of both sides and times out after three days', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.present('ann', true, 10);
  text(desk, 'vic', 'ann', desk.now + 10_000);
  desk.wait(60);
  desk.present('ann', false);
  desk.wait(72 * 3_600 - 61);
  assert.deepEqual(reasons(desk), []);
  desk.wait(1);
  assert.deepEqual(reasons(desk), ['timed_out']);
  assert.equal(desk.board.operators.get('ann' as OperatorId)?.settings.available, false);
});

test('an engagement that began by phone does not end because the visitor left the site', () => {
  const desk = new Desk();
  desk.operator('ann');
  const id = text(desk, 'vic', 'ann');
  reply(desk, 'vic', id);
  desk.visitorPresent('vic', 10);
  desk.wait(3_600);
  assert.equal(desk.engagement('vic').endedAt, null);
});

test('lasting requests of an operator who is disabled or removed from the site fail', () => {
  for (const more of [{ enabled: false }, { sites: new Map() }]) {
    const desk = new Desk();
    desk.operator('ann');
    text(desk, 'vic', 'ann');
    desk.operator('ann', more);
    assert.deepEqual(reasons(desk), ['operator_left']);
  }
});

test('a visitor may have ten lasting requests besides other pending ones', () => {
  const desk = new Desk();
  desk.operator('ann', { maxEngagements: 20 });
  for (let each = 0; each < 10; each += 1) text(desk, 'vic', 'ann');
  assert.equal(desk.refusal(() => text(desk, 'vic', 'ann')).code, 'too_many');
  for (let each = 0; each < 10; each += 1) desk.request('operator', 'vic', 'ann');
  assert.equal(desk.refusal(() => desk.request('operator', 'vic', 'ann')).code, 'too_many');
});

test('an operator may have a thousand lasting requests, a disabled operator none', () => {
  const desk = new Desk();
  desk.operator('ann');
  for (let each = 0; each < 1_000; each += 1) text(desk, `visitor ${each}`, 'ann');
  assert.equal(desk.refusal(() => text(desk, 'vic', 'ann')).code, 'too_many');
  desk.operator('ben', { enabled: false });
  assert.equal(desk.refusal(() => text(desk, 'vic', 'ben')).code, 'operator_unavailable');
});

test('a reply ends all other requests to the visitor on the site, including lasting ones', () => {
  const desk = new Desk();
  desk.operator('ann');
  desk.operator('ben');
  const [, second] = [text(desk, 'vic', 'ann'), text(desk, 'vic', 'ben')];
  reply(desk, 'vic', second);
  assert.deepEqual(reasons(desk), ['visitor_cancel', undefined]);
  assert.equal(desk.refusal(() => text(desk, 'vic', 'ann')).code, 'already_engaged');
});
