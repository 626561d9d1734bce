import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engagement, File, MediaUpgradeRequest } from '@usher/sdk/api-types';
import {
  noConversations,
  reduce,
  type Change,
  type Conversations,
  type Message,
  type Outgoing,
} from './conversation.ts';
import { changeOf } from './feed-items.ts';
import {
  adjacentId,
  callMedia,
  chosenFrom,
  filesOf,
  sortedConversations,
  isOpen,
  isTyping,
  pendingUpgrade,
  stagedFiles,
  transferOf,
  unreadOf,
  waitingSince,
} from './selectors.ts';

import { threadOf } from './thread.ts';

const me = 'me';

function engagement(id: string, more: Partial<Engagement> = {}): Engagement {
  const at = '2026-01-01T10:00:00.000Z';
  const sub = { id: `${id}-sub`, operator_id: me, site_id: 'site', started_at: at, ended_at: null };
  return {
    id,
    engagement_request_id: 'request',
    queue_ticket_id: null,
    queue_id: null,
    site_id: 'site',
    visitor_id: 'visitor',
    operator_id: me,
    media: 'text',
    state: 'active',
    end_reason: null,
    current_sub_engagement: sub,
    sub_engagements: [sub],
    started_at: at,
    ended_at: null,
    created_at: at,
    updated_at: at,
    source: 'queue',
    legs: [{ ...sub, media: 'text' }],
    operators: [{ id: me, display_name: 'Me', picture_url: null }],
    audio_recording_urls: [],
    calls: [],
    ...more,
  };
}

function message(id: string, more: Partial<Message> = {}): Message {
  return {
    id,
    engagement_id: 'chat',
    sub_engagement_id: 'chat-sub',
    timestamp: `2026-01-01T10:00:0${id.at(-1) ?? '0'}.000Z`,
    content: id,
    status: 'sent',
    sender: { type: 'visitor' },
    target: 'operator',
    type: 'chat',
    attachment: null,
    ...more,
  };
}

function outgoing(id: string, more: Partial<Outgoing> = {}): Outgoing {
  return { id, content: id, attachment: null, at: '', state: 'sending', problem: null, ...more };
}

const begun: Change = { type: 'engagement', engagement: engagement('chat'), me };
const after = (...changes: Change[]): Conversations => [begun, ...changes].reduce(reduce, noConversations);
const messagesOf = (...ids: string[]): Change[] => ids.map((id) => ({ type: 'message', message: message(id) }));
const idsOf = (state: Conversations): string[] => (state.byId.get('chat')?.messages ?? []).map(({ id }) => id);
const chat = (state: Conversations) => {
  const found = state.byId.get('chat');
  assert.ok(found);
  return found;
};

test('a message that arrives by feed and by read is shown once', () => {
  const transcript: Change = { type: 'transcript', id: 'chat', messages: [message('m1'), message('m2')] };
  assert.deepEqual(idsOf(after(...messagesOf('m1', 'm1', 'm2'))), ['m1', 'm2']);
  assert.deepEqual(idsOf(after(...messagesOf('m2'), transcript)), ['m1', 'm2']);
  assert.deepEqual(idsOf(after(transcript, ...messagesOf('m1', 'm2', 'm3'))), ['m1', 'm2', 'm3']);
});

test('messages that the feed reported before the read stay after the transcript', () => {
  const transcript: Change = { type: 'transcript', id: 'chat', messages: [message('m1'), message('m2')] };
  assert.deepEqual(idsOf(after(...messagesOf('m2', 'm3', 'm4'), transcript)), ['m1', 'm2', 'm3', 'm4']);
});

test('a transcript that is read again after a reset inserts missed messages at their position', () => {
  const state = after({ type: 'transcript', id: 'chat', messages: [message('m1')] }, ...messagesOf('m4'), {
    type: 'transcript',
    id: 'chat',
    messages: ['m1', 'm2', 'm3', 'm4'].map((id) => message(id)),
  });
  assert.deepEqual(idsOf(state), ['m1', 'm2', 'm3', 'm4']);
});

test('messages of a conversation that is not on the desk are ignored', () => {
  const stray: Change = { type: 'message', message: message('m1', { engagement_id: 'other' }) };
  assert.deepEqual([...after(stray).byId.keys()], ['chat']);
  const foreign: Change = {
    type: 'engagement',
    engagement: engagement('x', { operator_id: 'you', sub_engagements: [] }),
    me,
  };
  assert.equal(reduce(noConversations, foreign), noConversations);
});

test('a delivered message stays delivered when an older status arrives later', () => {
  const state = after(
    ...messagesOf('m1'),
    { type: 'delivered', id: 'chat', messageId: 'm1' },
    { type: 'transcript', id: 'chat', messages: [message('m1')] },
    ...messagesOf('m1'),
  );
  assert.equal(chat(state).messages[0]?.status, 'delivered');
  assert.equal(unreadOf(chat(state)), 0);
});

test('an outgoing message stays after all others until the feed reports it', () => {
  const one: Change = { type: 'sending', id: 'chat', outgoing: outgoing('o1') };
  const two: Change = { type: 'sending', id: 'chat', outgoing: outgoing('o2') };
  const failed: Change = {
    type: 'sending',
    id: 'chat',
    outgoing: outgoing('o1', { state: 'waiting', problem: 'away' }),
  };
  const waiting = after(one, two, failed, ...messagesOf('m1'));
  assert.deepEqual(
    chat(waiting).outgoing.map(({ id, state }) => [id, state]),
    [
      ['o1', 'waiting'],
      ['o2', 'sending'],
    ],
  );
  const there = reduce(waiting, { type: 'message', message: message('o1', { sender: { type: 'operator' } }) });
  assert.deepEqual(idsOf(there), ['m1', 'o1']);
  assert.deepEqual(
    chat(there).outgoing.map(({ id }) => id),
    ['o2'],
  );
  // A response that arrives after the feed item changes nothing.
  const late = reduce(there, { type: 'sending', id: 'chat', outgoing: outgoing('o1', { state: 'sent' }) });
  assert.deepEqual(
    chat(late).outgoing.map(({ id }) => id),
    ['o2'],
  );
  // A stored message that was sent before the reload is not sent again.
  const kept = reduce(there, { type: 'outgoing', id: 'chat', outgoing: [outgoing('o1'), outgoing('o3')] });
  assert.deepEqual(
    chat(kept).outgoing.map(({ id }) => id),
    ['o3'],
  );
  assert.deepEqual(chat(reduce(there, { type: 'discarded', id: 'chat', messageId: 'o2' })).outgoing, []);
});

test('a typing indicator expires, ignores older clocks, and ends with the message', () => {
  const typing = (isOn: boolean, clock: number): Change => ({ type: 'typing', id: 'chat', isOn, clock, at: 1_000 });
  assert.equal(isTyping(chat(after(typing(true, 2), typing(false, 1))), 2_000), true);
  assert.equal(isTyping(chat(after(typing(true, 1), typing(false, 2))), 2_000), false);
  assert.equal(isTyping(chat(after(typing(true, 1))), 1_000 + 10_000), false);
  assert.equal(isTyping(chat(after(typing(true, 1), ...messagesOf('m1'))), 2_000), false);
});

test('the visitor waits since their first unanswered message', () => {
  const mine = (id: string): Change => ({ type: 'message', message: message(id, { sender: { type: 'operator' } }) });
  assert.equal(waitingSince(chat(after())), null);
  assert.equal(
    waitingSince(chat(after(...messagesOf('m1'), mine('m2'), ...messagesOf('m3', 'm4')))),
    '2026-01-01T10:00:03.000Z',
  );
  assert.equal(waitingSince(chat(after(...messagesOf('m1'), mine('m2')))), null);
  assert.equal(
    waitingSince(chat(after(...messagesOf('m1'), { type: 'sending', id: 'chat', outgoing: outgoing('o1') }))),
    null,
  );
});

test('the visitor does not wait during a call, and messages before the end of the call count as answered', () => {
  const kept = { id: 'call', sub_engagement_id: 'chat-sub', started_at: '2026-01-01T10:00:02.000Z', ended_by: null };
  const calls = (media: Engagement['media'], connectedAt: string | null, endedAt: string | null): Change => {
    const call = { ...kept, connected_at: connectedAt, ended_at: endedAt };
    return { type: 'engagement', engagement: engagement('chat', { media, calls: [call] }), me };
  };
  const [connected, ended] = ['2026-01-01T10:00:02.500Z', '2026-01-01T10:00:03.500Z'];
  const written = messagesOf('m1', 'm2', 'm3', 'm4');
  assert.equal(waitingSince(chat(after(...written, calls('audio', null, null)))), null);
  assert.equal(waitingSince(chat(after(...written, calls('text', connected, ended)))), '2026-01-01T10:00:04.000Z');
  assert.equal(waitingSince(chat(after(...written, calls('text', null, ended)))), '2026-01-01T10:00:01.000Z');
});

test('ended calls and transfers are shown between the messages at the time they happened', () => {
  const call = { id: 'call', sub_engagement_id: 'chat-sub', started_at: '2026-01-01T10:00:01.000Z' };
  const ended = { ...call, connected_at: '2026-01-01T10:00:01.000Z', ended_at: '2026-01-01T10:00:02.500Z' };
  const calls = [{ ...ended, ended_by: 'visitor' } as const];
  const transferred = { from_operator_id: 'you', from_operator_name: 'Ben', operator_id: me, message: 'Hi' };
  const transfers = [{ id: 'transfer', ...transferred, transferred_at: '2026-01-01T10:00:09.000Z' }];
  const thread = threadOf({
    ...chat(after(...messagesOf('m1', 'm2', 'm3'), { type: 'transfers', id: 'chat', transfers })),
    engagement: engagement('chat', { calls }),
  });
  assert.deepEqual(
    thread.map(({ id, kind }) => [id, kind]),
    [
      ['m1', 'message'],
      ['m2', 'message'],
      ['call', 'call'],
      ['m3', 'message'],
      ['transfer', 'transfer'],
    ],
  );
});

test('a conversation that ended or was transferred stays on the desk until it is closed', () => {
  const ended: Change = { type: 'engagement', engagement: engagement('chat', { state: 'ended' }), me };
  assert.equal(isOpen(chat(after(...messagesOf('m1'), ended))), false);
  const passed = changeOf(
    {
      type: 'engagement.transfer',
      data: { engagement: { id: 'chat', current_sub_engagement: { operator_id: 'you' } } },
    },
    { me, now: 0 },
  );
  assert.ok(passed);
  assert.deepEqual(idsOf(after(...messagesOf('m1'), passed)), ['m1']);
  assert.equal(isOpen(chat(after(passed))), false);
  assert.equal(after({ type: 'dismissed', id: 'chat' }).byId.size, 0);
  assert.equal(reduce(noConversations, ended), noConversations);
  assert.equal(isOpen(chat(reduce(noConversations, { ...ended, isRead: true }))), false);
  // Transferred back to this operator.
  assert.equal(isOpen(chat(after(passed, begun))), true);
});

test('active conversations come first in the list, and the shortcuts wrap around', () => {
  const state = [
    { type: 'engagement', engagement: engagement('b', { started_at: '2026-01-01T10:00:02Z' }), me },
    {
      type: 'engagement',
      engagement: engagement('a', { started_at: '2026-01-01T10:00:01Z', state: 'ended' }),
      me,
      isRead: true,
    },
    { type: 'engagement', engagement: engagement('c', { started_at: '2026-01-01T10:00:03Z' }), me },
  ].reduce((before, change) => reduce(before, change as Change), noConversations);
  const order = sortedConversations(state);
  assert.deepEqual(
    order.map(({ id }) => id),
    ['b', 'c', 'a'],
  );
  assert.equal(adjacentId(order, 'a', 1), 'b');
  assert.equal(adjacentId(order, 'b', -1), 'a');
  assert.equal(adjacentId(order, null, 1), 'b');
  assert.equal(adjacentId([], null, 1), null);
});

test('the chosen option of a card is the first later answer', () => {
  const card = message('m1', { attachment: { type: 'single_choice', options: [{ text: 'Yes', value: 'y' }] } });
  const other = message('m2', { attachment: { type: 'single_choice_response', selected_option: 'n' } });
  const answer = message('m3', { attachment: { type: 'single_choice_response', selected_option: 'y' } });
  assert.equal(chosenFrom([card, other, answer], card), 'y');
  assert.equal(chosenFrom([answer, card, other], card), null);
});

test('uploaded files that were not sent are staged with their scan result', () => {
  const file = { id: 'f'.repeat(36), uploader_id: me, state: 'pending' } as File;
  const state = after({ type: 'files', id: 'chat', files: [file] });
  assert.deepEqual(stagedFiles(chat(state), me, []), [file]);
  assert.deepEqual(stagedFiles(chat(state), 'you', []), []);
  assert.deepEqual(stagedFiles(chat(state), me, [file.id]), []);
  const scanned = reduce(state, { type: 'scanned', fileId: file.id, result: 'clean', at: '1' });
  assert.deepEqual(stagedFiles(chat(scanned), me, []), [{ ...file, state: 'clean', scanned_at: '1' }]);
  const attachment = { type: 'files', files: [{ url: `http://usher/files/${file.id}`, name: 'a', deleted: false }] };
  const sent = reduce(scanned, { type: 'message', message: message('m1', { attachment }) });
  assert.deepEqual(stagedFiles(chat(sent), me, []), []);
});

test('a deleted file is shown as deleted and is no longer staged', () => {
  const [one, other] = ['e'.repeat(36), 'f'.repeat(36)];
  const sent = (id: string) => ({ url: `http://usher/files/${id}`, name: 'a', deleted: false });
  const attachment = { type: 'files', files: [sent(one), sent(other)] };
  const staged = { id: other, uploader_id: me, engagement_id: 'chat', state: 'clean', deleted: false } as File;
  const state = after(
    { type: 'message', message: message('m1', { attachment }) },
    { type: 'message', message: message('m2', {}) },
    { type: 'files', id: 'chat', files: [staged] },
  );
  const deleted = reduce(state, { type: 'file', file: { ...staged, deleted: true } });
  assert.deepEqual(
    chat(deleted).messages.flatMap((each) => filesOf(each.attachment).map((file) => file.deleted)),
    [false, true],
  );
  assert.deepEqual(stagedFiles(chat(deleted), me, []), []);
  assert.equal(chat(deleted).messages[1], chat(state).messages[1]);
});

test('the newest pending upgrade is shown, and the accepted upgrade decides the media', () => {
  const upgrade = (id: string, more: Partial<MediaUpgradeRequest>): Change => ({
    type: 'upgrade',
    upgrade: {
      id,
      engagement_id: 'chat',
      audio: 'two_way',
      video: null,
      state: 'pending',
      created_at: id,
      ...more,
    } as MediaUpgradeRequest,
  });
  const requested = after(upgrade('1', { state: 'canceled' }), upgrade('2', {}), upgrade('1', {}));
  assert.equal(pendingUpgrade(chat(requested))?.id, '2');
  assert.equal(callMedia(chat(requested)), null);
  const agreed = [
    upgrade('2', { state: 'accepted', video: 'one_way' }),
    { type: 'engagement', engagement: engagement('chat', { media: 'video' }), me } as const,
  ].reduce(reduce, requested);
  assert.deepEqual(callMedia(chat(agreed)), { audio: 'two_way', video: 'one_way' });
  assert.equal(pendingUpgrade(chat(agreed)), null);
});

test('a read does not undo feed items that arrived during the read', () => {
  const earlier = engagement('chat', { updated_at: '2026-01-01T10:00:00.000Z' });
  const later = engagement('chat', { updated_at: '2026-01-01T10:00:01.000Z', media: 'audio' });
  const read = (each: Engagement): Change => ({ type: 'engagement', engagement: each, me, isRead: true });
  assert.equal(chat(after({ type: 'engagement', engagement: later, me }, read(earlier))).engagement.media, 'audio');
  assert.equal(chat(after(read(earlier), read(later))).engagement.media, 'audio');
  const transferred: Change = { type: 'transferred', id: 'chat', at: '2026-01-01T10:00:02.000Z' };
  assert.equal(isOpen(chat(after(transferred, read(later)))), false);

  const upgrade = { id: 'u', engagement_id: 'chat', state: 'pending', created_at: '1' } as MediaUpgradeRequest;
  const nothing: Change = { type: 'upgrades', id: 'chat', upgrades: [] };
  assert.equal(pendingUpgrade(chat(after({ type: 'upgrade', upgrade }, nothing)))?.id, 'u');

  const file = { id: 'f', engagement_id: 'chat', state: 'pending', deleted: false } as File;
  const files: Change = { type: 'files', id: 'chat', files: [file] };
  const scanned: Change = { type: 'scanned', fileId: 'f', result: 'clean', at: '1' };
  assert.equal(chat(after(scanned, files)).files[0]?.state, 'clean');
  assert.equal(chat(after(files, scanned, files)).files[0]?.state, 'clean');
  const deleted: Change = { type: 'file', file: { ...file, deleted: true } };
  assert.equal(chat(after(files, deleted, files)).files[0]?.deleted, true);
});

test('a transfer by this operator is pending until it is answered, and a transfer to this operator is an offer', () => {
  const request = { id: 't', engagement_id: 'chat', transfer_ticket_id: null, operator_id: 'you', state: 'pending' };
  const change = (data: object, type = 'transfer_request.state') => changeOf({ type, data }, { me, now: 0 });
  const requested = change(request);
  assert.ok(requested);
  assert.deepEqual(transferOf(chat(after(requested))), { kind: 'request', id: 't', to: 'you' });
  const declined = change({ ...request, state: 'failed' });
  assert.ok(declined);
  assert.equal(transferOf(chat(after(requested, declined))), null);
  assert.equal(change({ ...request, operator_id: me }), null);
  const ticket = change(
    { id: 't', engagement_id: 'chat', queue_ids: ['q'], state: 'waiting' },
    'transfer_ticket.state',
  );
  assert.ok(ticket);
  assert.deepEqual(transferOf(chat(after(ticket))), { kind: 'ticket', id: 't', to: 'q' });
  assert.equal(changeOf({ type: 'unknown', data: null }, { me, now: 0 }), null);
});
