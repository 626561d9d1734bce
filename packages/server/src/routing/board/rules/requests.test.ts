import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorId, RequestId, SiteId, TicketId, VisitorId } from '../../../platform/ids.ts';
import { Desk } from '../../../../../../test/support/board/desk.ts';

/** Requests, engagements and transfers: D5, with the payload of every event. */

function staffed(...operators: string[]): Desk {
  const desk = new Desk();
  for (const name of operators) desk.operator(name);
  desk.queue('queue', { whenUnstaffed: 'accept' });
  return desk;
}

/** Checks the fields that all events share, and returns the payloads without them. */
function eventPayloads(desk: Desk): unknown[] {
  return desk.takePayloads().map((payload) => {
    const { event_id, dispatched_at, ...rest } = payload as Record<string, unknown>;
    assert(typeof event_id === 'string' && dispatched_at === new Date(desk.now).toISOString());
    return rest;
  });
}

function failure(desk: Desk): unknown {
  const [event, ...others] = eventPayloads(desk) as { engagement_request: { fail_reason: string } }[];
  assert.deepEqual(others, []);
  return event?.engagement_request.fail_reason;
}

const reason = (desk: Desk): unknown[] =>
  desk.takePayloads().map((event) => (event as { engagement: { end_reason: string } }).engagement.end_reason);

test('D5.1 engagement.request.failure has exactly the documented fields', () => {
  const desk = staffed('ann');
  desk.enqueue('vic');
  const { id } = desk.pending('ann');
  const named = { id, site_id: 'site', visitor_id: 'vic', operator_id: 'ann' };
  desk.answer('ann', 'decline');
  assert.deepEqual(eventPayloads(desk), [
    { event_type: 'engagement.request.failure', engagement_request: { ...named, fail_reason: 'rejected' } },
  ]);
});

test('D5.1 fail_message is present if the reason is error, and may be null', () => {
  for (const message of ['It broke.', null]) {
    const desk = staffed('ann');
    desk.enqueue('vic');
    const { id } = desk.pending('ann');
    desk.answer('ann', 'decline', { message });
    const named = { id, site_id: 'site', visitor_id: 'vic', operator_id: 'ann' };
    const engagement_request = { ...named, fail_reason: 'error', fail_message: message };
    assert.deepEqual(eventPayloads(desk), [{ event_type: 'engagement.request.failure', engagement_request }]);
  }
});

test('D5.2 each way to fail has its fail_reason', () => {
  const failed = (act: (desk: Desk) => void): unknown => {
    const desk = staffed('ann');
    desk.enqueue('vic', { leaseUntil: desk.now + 10_000 });
    act(desk);
    return failure(desk);
  };
  const byVisitor = { kind: 'visitor', id: 'vic' as VisitorId } as const;
  const cancel = (desk: Desk, error: { message: string | null } | null = null) =>
    desk.ask({ name: 'answer', requestId: desk.pending('ann').id, action: 'cancel', by: byVisitor, error });
  assert.equal(failed((desk) => desk.answer('ann', 'decline')), 'rejected'); // prettier-ignore
  assert.equal(failed((desk) => { desk.visitorPresent('vic', 900); desk.wait(30); }), 'timed_out'); // prettier-ignore
  assert.equal(
    failed((desk) => desk.wait(10)),
    'visitor_left',
  );
  assert.equal(
    failed((desk) => desk.present('ann', false)),
    'operator_left',
  );
  assert.equal(
    failed((desk) => cancel(desk)),
    'visitor_cancel',
  );
  assert.equal(
    failed((desk) => desk.cancel('vic', 'operator')),
    'operator_cancel',
  );
  assert.equal(
    failed((desk) => cancel(desk, { message: null })),
    'error',
  );
});

test('D4.10, D5.2 an operator’s request fails when the visitor declines, the operator cancels, or either side leaves', () => {
  const invited = (act: (desk: Desk, id: RequestId) => void): unknown => {
    const desk = staffed('ann');
    desk.present('ann', true, 5);
    desk.request('operator', 'vic', 'ann');
    act(desk, desk.pending('ann').id);
    return failure(desk);
  };
  const by = { kind: 'visitor', id: 'vic' as VisitorId } as const;
  assert.equal(invited((desk, requestId) => desk.ask({ name: 'answer', requestId, action: 'decline', by, error: null })), 'rejected'); // prettier-ignore
  assert.equal(
    invited((desk) => desk.answer('ann', 'cancel')),
    'operator_cancel',
  );
  assert.equal(
    invited((desk) => desk.wait(5)),
    'operator_left',
  );
  assert.equal(
    invited((desk) => desk.operator('ann', { enabled: false })),
    'operator_left',
  );
  assert.equal(invited((desk) => { desk.present('ann', false); desk.wait(15); }), 'timed_out'); // prettier-ignore
  assert.equal(invited((desk) => { desk.visitorPresent('vic', 1); desk.wait(1); }), 'visitor_left'); // prettier-ignore
});

test('D5.2 only the requesting side may cancel, only the invited side may accept or decline, and nobody else may answer', () => {
  const desk = staffed('ann', 'ben');
  desk.enqueue('vic');
  const { id: requestId } = desk.pending('ann');
  const answer = (kind: 'visitor' | 'operator', id: string, action: 'accept' | 'decline' | 'cancel') =>
    desk.ask({ name: 'answer', requestId, action, by: { kind, id: id as never }, error: null });
  for (const action of ['accept', 'decline'] as const)
    assert.equal(desk.refusal(() => answer('visitor', 'vic', action)).code, 'forbidden');
  assert.equal(desk.refusal(() => answer('operator', 'ann', 'cancel')).code, 'forbidden');
  assert.equal(answer('operator', 'ben', 'accept'), null);
  assert.equal(answer('visitor', 'wes', 'cancel'), null);
  assert.notEqual(answer('operator', 'ann', 'accept'), null);
  assert.equal(answer('operator', 'ann', 'accept'), null, 'it is over');
});

test('D5.3 an engagement sends start and end events, and each way to end has its end_reason', () => {
  const desk = staffed('ann');
  desk.enqueue('vic');
  const { id: engagement_request_id } = desk.pending('ann');
  desk.answer('ann', 'accept');
  const { id, subEngagementId, startedAt } = desk.engagement('vic');
  const current_sub_engagement = { id: subEngagementId, operator_id: 'ann', site_id: 'site' };
  const engagement = { id, engagement_request_id, visitor_id: 'vic', current_sub_engagement };
  const leg = {
    ...current_sub_engagement,
    media: 'text',
    started_at: new Date(startedAt).toISOString(),
    ended_at: null,
  };
  const beyond = { source: 'queue', legs: [leg], audio_recording_urls: [] };
  assert.deepEqual(eventPayloads(desk), [{ event_type: 'engagement.start', engagement: { ...engagement, ...beyond } }]);
  desk.end(desk.engagement('vic'), 'visitor');
  assert.deepEqual(eventPayloads(desk), [
    { event_type: 'engagement.end', engagement: { ...engagement, end_reason: 'visitor_hung_up' } },
  ]);
  const ended = (act: (desk: Desk) => void): unknown => {
    const other = staffed('ann');
    other.engage('vic', 'ann');
    other.takePayloads();
    act(other);
    return reason(other);
  };
  assert.deepEqual(ended((other) => other.end(other.engagement('vic'), 'operator')), ['operator_hung_up']); // prettier-ignore
  assert.deepEqual(ended((other) => other.end(other.engagement('vic'), 'operator', true)), ['error']); // prettier-ignore
  assert.deepEqual(ended((other) => { other.visitorPresent('vic', 10); other.wait(40); }), ['visitor_left']); // prettier-ignore
  assert.deepEqual(ended((other) => { other.present('ann', true, 10); other.wait(40); }), ['operator_left']); // prettier-ignore
});

test('D5.3 an engagement continues if a side returns within the grace period, or if the operator only becomes unavailable', () => {
  const desk = staffed('ann');
  desk.engage('vic', 'ann');
  desk.takePayloads();
  desk.visitorPresent('vic', 10);
  desk.present('ann', true, 10);
  desk.wait(39);
  desk.visitorPresent('vic', 1000);
  desk.present('ann', false);
  desk.wait(600);
  assert.deepEqual(desk.takePayloads(), []);
});

test('D5.3 a lease that ended before the engagement began does not end the engagement', () => {
  const desk = staffed('ann');
  desk.enqueue('vic', { leaseUntil: desk.now - 1000 });
  desk.answer('ann', 'accept');
  desk.takePayloads();
  desk.wait(600);
  assert.deepEqual(desk.takePayloads(), []);
});

test('D5.3 a ticket or request made when a lease ends is not ended by that lease', () => {
  const desk = staffed('ann');
  desk.site('elsewhere');
  desk.queue('other', { siteId: 'elsewhere' as SiteId, whenUnstaffed: 'accept' });
  desk.engage('vic', 'ann');
  desk.visitorPresent('vic', 10);
  desk.wait(10);
  desk.enqueue('vic', { site: 'elsewhere' });
  desk.wait(0);
  assert.equal(desk.ticket('vic').state, 'waiting');
  desk.takePayloads();
  desk.wait(30);
  assert.deepEqual([desk.ticket('vic').state, reason(desk)], ['waiting', ['visitor_left']]);
});

test('D5.8 other tickets and requests of an engaged visitor on the site end', () => {
  const desk = staffed('ann', 'ben');
  desk.site('elsewhere');
  desk.queue('other', { siteId: 'elsewhere' as SiteId, whenUnstaffed: 'accept' });
  desk.enqueue('vic', { site: 'elsewhere' });
  desk.request('visitor', 'vic', 'ben');
  desk.enqueue('vic');
  desk.answer('ann', 'accept');
  const types = desk.events.map(({ type, fields }) => (type === 'engagement.request.failure' ? fields.engagement_request.fail_reason : type)); // prettier-ignore
  assert.deepEqual(types, ['visitor_cancel', 'engagement.start']);
  assert.deepEqual(Array.from(desk.board.tickets.values(), ({ siteId }) => siteId), ['elsewhere']); // prettier-ignore
  assert.equal(desk.ticket('vic').engagementId, desk.engagement('vic').id);
});

test('D5.9 a request to an operator who is not available is refused, and so is the eleventh pending request', () => {
  const desk = staffed('ann');
  desk.operator('ben', { available: false });
  const code = (operator: string, medium: 'text' | 'audio' = 'text') =>
    desk.refusal(() => desk.request('visitor', 'vic', operator, { medium })).code;
  assert.equal(code('nobody'), 'invalid_request');
  assert.equal(code('ben'), 'operator_unavailable');
  desk.engage('una', 'ann');
  assert.equal(code('ann'), 'operator_unavailable');
  assert.equal(desk.refusal(() => desk.request('operator', 'vic', 'ann')).code, 'operator_unavailable');
  for (let number = 0; number < 10; number += 1) {
    desk.operator(`operator ${number}`);
    desk.request('visitor', 'vic', `operator ${number}`);
  }
  desk.operator('cat');
  assert.equal(code('cat'), 'too_many');
  desk.operator('dan', { enabled: false });
  assert.equal(desk.refusal(() => desk.request('operator', 'wes', 'dan')).code, 'operator_unavailable');
});

test('D5.4 in a transfer to an operator the first operator stays until the second accepts', () => {
  const desk = staffed('ann', 'ben');
  desk.engage('vic', 'ann');
  desk.takePayloads();
  const engagement = desk.engagement('vic');
  const { id, requestId, subEngagementId: previous } = engagement;
  desk.transferTo('ben', engagement);
  assert.equal(engagement.operator.settings.id, 'ann');
  const { id: transfer_request_id } = desk.pending('ben');
  desk.answer('ben', 'accept');
  assert.deepEqual(eventPayloads(desk), [
    {
      event_type: 'engagement.transfer',
      engagement: {
        id,
        engagement_request_id: requestId,
        transfer_request_id,
        visitor_id: 'vic',
        previous_sub_engagement: { id: previous, operator_id: 'ann', site_id: 'site' },
        current_sub_engagement: { id: engagement.subEngagementId, operator_id: 'ben', site_id: 'site' },
      },
    },
  ]);
  desk.enqueue('wes');
  assert.equal(desk.offered('wes'), 'ann', 'ann is free again');
});

test('D5.4, D5.10 a failed transfer changes nothing and sends no event', () => {
  const desk = staffed('ann', 'ben');
  desk.engage('vic', 'ann');
  desk.takePayloads();
  for (const fail of [() => desk.answer('ben', 'decline'), () => desk.present('ben', false), () => desk.wait(30)]) {
    desk.present('ben', true);
    desk.transferTo('ben', desk.engagement('vic'));
    assert.equal(desk.refusal(() => desk.transferTo('ben', desk.engagement('vic'))).code, 'transfer_pending');
    fail();
    assert.deepEqual([desk.engagement('vic').transfer, desk.takePayloads()], [null, []]);
  }
});

test('D5.4 a transfer to oneself, to an absent operator, of another operator’s or of an ended engagement is refused', () => {
  const desk = staffed('ann', 'ben');
  desk.operator('cat', { available: false });
  desk.engage('vic', 'ann');
  const engagement = desk.engagement('vic');
  assert.equal(desk.refusal(() => desk.transferTo('ann', engagement)).code, 'invalid_request');
  assert.equal(desk.refusal(() => desk.transferTo('nobody', engagement)).code, 'invalid_request');
  assert.equal(desk.refusal(() => desk.transferTo('cat', engagement)).code, 'operator_unavailable');
  assert.equal(desk.refusal(() => desk.transferTo('ben', engagement, 'ben')).code, 'not_found');
  assert.equal(desk.refusal(() => desk.transferToQueue('nowhere', engagement)).code, 'invalid_request');
  desk.end(engagement, 'visitor');
  assert.equal(desk.refusal(() => desk.transferTo('ben', engagement)).code, 'not_found');
});

test('D5.4 only the target may accept a transfer, only the current operator may cancel it, and the visitor may do neither', () => {
  const desk = staffed('ann', 'ben', 'cat');
  desk.engage('vic', 'ann');
  desk.transferTo('ben', desk.engagement('vic'));
  const { id: requestId } = desk.pending('ben');
  const answer = (kind: 'visitor' | 'operator', id: string, action: 'accept' | 'cancel') =>
    desk.ask({ name: 'answerTransfer', requestId, action, by: { kind, id: id as never }, error: null });
  assert.equal(answer('visitor', 'vic', 'accept'), null);
  assert.equal(answer('operator', 'cat', 'accept'), null);
  assert.equal(desk.refusal(() => answer('operator', 'ann', 'accept')).code, 'forbidden');
  assert.equal(desk.refusal(() => answer('operator', 'ben', 'cancel')).code, 'forbidden');
  answer('operator', 'ann', 'cancel');
  assert.equal(desk.engagement('vic').transfer, null);
});

test('D5.4, D5.10 a transfer to a queue waits there, is never offered to the current operator, and keeps the engagement', () => {
  const desk = staffed('ann');
  desk.operator('ben', { maxEngagements: 2 });
  desk.engage('una', 'ann');
  desk.engage('vic', 'ben');
  const engagement = desk.engagement('vic');
  const { id } = engagement;
  desk.transferToQueue('queue', engagement);
  assert.equal(desk.offered('vic'), null, 'ben has room, but ben transferred the engagement');
  desk.end(desk.engagement('una'), 'operator');
  assert.equal(desk.offered('vic'), 'ann');
  desk.answer('ann', 'accept');
  assert.deepEqual([engagement.id, engagement.operator.settings.id, desk.ticket('vic').state], [id, 'ann', 'engaged']);
});

test('D5.4 a pending transfer ends with its engagement', () => {
  const desk = staffed('ann', 'ben');
  desk.engage('vic', 'ann');
  desk.transferToQueue('queue', desk.engagement('vic'));
  assert.equal(desk.offered('vic'), 'ben');
  desk.takePayloads();
  desk.end(desk.engagement('vic'), 'visitor');
  assert.deepEqual([desk.ticket('vic').state, reason(desk)], ['canceled', ['visitor_hung_up']]);
  desk.enqueue('wes');
  desk.enqueue('xan');
  assert.deepEqual([desk.offered('wes'), desk.offered('xan')], ['ben', 'ann'], 'both are free');
});

test('D5.5 presence without an end lasts until changed; with an end it must be renewed', () => {
  const desk = staffed('ann');
  desk.present('ann', true, 60);
  desk.wait(59);
  desk.present('ann', true, 60);
  desk.wait(59);
  desk.enqueue('vic');
  assert.equal(desk.offered('vic'), 'ann');
  desk.wait(1);
  assert.equal(desk.offered('vic'), null);
  desk.present('ann', true);
  desk.wait(10);
  assert.equal(desk.offered('vic'), 'ann');
  assert.equal(desk.refusal(() => desk.present('nobody', true)).code, 'not_found');
});

test('D5.6 the queue that made the match sends its welcome message once, from the operator’s side', () => {
  const desk = staffed('ann');
  desk.queue('queue', { welcomeMessage: 'Hello' });
  desk.engage('vic', 'ann');
  const [start, message, ...others] = eventPayloads(desk) as { event_type: string; message: Record<string, unknown> }[];
  assert.deepEqual([start?.event_type, others], ['engagement.start', []]);
  const { id: engagement_id, subEngagementId: sub_engagement_id } = desk.engagement('vic');
  const { id, ...rest } = message?.message ?? {};
  assert.equal(typeof id, 'string');
  assert.deepEqual(rest, {
    timestamp: new Date(desk.now).toISOString(),
    engagement_id,
    sub_engagement_id,
    content: 'Hello',
    status: 'sent',
    sender: { type: 'operator' },
    target: 'visitor',
    type: 'chat',
    attachment: null,
  });
});

test('D5.6 a welcome message that is a JSON object is a response card', () => {
  const desk = staffed('ann');
  const attachment = {
    type: 'single_choice',
    image_url: 'https://example.com/a.png',
    options: [{ text: 'Yes', value: 'y' }],
  };
  desk.queue('queue', { welcomeMessage: JSON.stringify({ content: 'Well?', attachment: { ...attachment, more: 1 } }) });
  desk.engage('vic', 'ann');
  const [, card] = desk.takePayloads() as { message: { content: string; attachment: unknown } }[];
  assert.deepEqual([card?.message.content, card?.message.attachment], ['Well?', attachment]);
});

test('a command on something that is not on the board returns null', () => {
  const desk = staffed('ann');
  const by = { kind: 'operator', id: 'ann' as OperatorId } as const;
  const ticketId = 'none' as TicketId;
  assert.equal(desk.ask({ name: 'cancelTicket', ticketId, kind: 'visitor', by: 'visitor' }), null);
  assert.equal(desk.ask({ name: 'viewTicket', ticketId }), null);
  assert.equal(desk.ask({ name: 'end', engagementId: 'none' as never, by, error: false }), null);
  desk.enqueue('vic');
  assert.equal(
    desk.ask({ name: 'cancelTicket', ticketId: desk.ticket('vic').id, kind: 'transfer', by: 'visitor' }),
    null,
  );
  assert.equal(desk.ask({ name: 'viewRequests', operatorId: by.id }).length, 1);
  assert.equal(desk.ask({ name: 'viewRequests', visitorId: 'vic' as VisitorId }).length, 1);
  assert.deepEqual(desk.ask({ name: 'viewRequests' }), []);
});
