import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announcementsOf } from './announcements.ts';
import type { Message } from './messages.ts';
import { initialState, type State } from './state.ts';

function message(id: string, from: Message['from'], content = id): Message {
  return { id, timestamp: '2026-01-01T00:00:00Z', content, status: 'sent', from, attachment: null };
}

const engaged: State = { ...initialState, phase: 'engaged', messages: [message('hello', 'operator')] };

test('while the panel is closed, a message of an operator is announced once, and never one of the visitor', () => {
  const more = [message('yes', 'visitor'), message('fine', 'operator')];
  const answered: State = { ...engaged, messages: [...engaged.messages, ...more] };
  assert.deepEqual(announcementsOf(engaged, answered), ['New message: fine']);
  assert.deepEqual(announcementsOf(answered, { ...answered }), []);
  assert.deepEqual(announcementsOf(engaged, { ...answered, isPanelOpen: true }), [], 'the log says it');
});

test('the beginning is announced with the welcome message, a reload is not', () => {
  const waiting: State = { ...engaged, phase: 'waiting' };
  assert.deepEqual(announcementsOf(waiting, engaged), ['We have joined the chat.', 'New message: hello']);
  assert.deepEqual(announcementsOf(initialState, engaged), []);
});

test('an invitation to a call and the end are announced', () => {
  const upgrade: State['upgrade'] = {
    id: 'u',
    engagement_id: 'e',
    requester: 'operator',
    target: 'visitor',
    audio: 'two_way',
    video: null,
    state: 'pending',
  };
  const invited: State = { ...engaged, upgrade };
  assert.deepEqual(announcementsOf(engaged, invited), ['You are invited to a call.']);
  assert.deepEqual(announcementsOf(invited, { ...invited }), []);
  assert.deepEqual(announcementsOf(engaged, { ...engaged, phase: 'ended' }), ['The chat is over.']);
});
