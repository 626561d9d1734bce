import assert from 'node:assert/strict';
import { test } from 'node:test';
import { announcementsOf, type AnnouncedState } from './announcements.ts';
import type { Message } from './messages.ts';

function message(id: string, from: Message['from'], content = id): Message {
  const subEngagementId = 'sub';
  return { id, subEngagementId, timestamp: '2026-01-01T00:00:00Z', content, status: 'sent', from, attachment: null };
}

const idle: AnnouncedState = { phase: 'idle', messages: [], upgrade: null, isPanelOpen: false };
const engaged: AnnouncedState = { ...idle, phase: 'engaged', messages: [message('hello', 'operator')] };

test('while the panel is closed, each message of the operator is announced once, and those of the visitor are not', () => {
  const more = [message('yes', 'visitor'), message('fine', 'operator')];
  const answered: AnnouncedState = { ...engaged, messages: [...engaged.messages, ...more] };
  assert.deepEqual(announcementsOf(engaged, answered), ['New message: fine']);
  assert.deepEqual(announcementsOf(answered, { ...answered }), []);
  assert.deepEqual(announcementsOf(engaged, { ...answered, isPanelOpen: true }), [], 'the log announces it');
});

test('the start of a conversation is announced with the welcome message, a reload is not', () => {
  const waiting: AnnouncedState = { ...engaged, phase: 'waiting' };
  assert.deepEqual(announcementsOf(waiting, engaged), ['We have joined the chat.', 'New message: hello']);
  assert.deepEqual(announcementsOf(idle, engaged), []);
});

test('an invitation to a call and the end of the conversation are announced', () => {
  const upgrade = { id: 'u', target: 'visitor', audio: 'two_way', video: null } as const;
  const invited: AnnouncedState = { ...engaged, upgrade };
  assert.deepEqual(announcementsOf(engaged, invited), ['You are invited to a call.']);
  assert.deepEqual(announcementsOf(invited, { ...invited }), []);
  assert.deepEqual(announcementsOf(engaged, { ...engaged, phase: 'ended' }), ['The chat has ended.']);
});
