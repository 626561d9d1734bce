import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from './messages.ts';
import { speakersOf, transferInWords } from './speakers.ts';

const at = '2026-01-01T00:00:00.000Z';
const sub = (id: string, operator_id: string) => ({ id, operator_id, site_id: 'site', started_at: at, ended_at: null });
const said = (id: string, from: Message['from'], subEngagementId: string): Message => ({
  id,
  timestamp: at,
  content: id,
  status: 'sent',
  from,
  subEngagementId,
  attachment: null,
});
const engagement = {
  operators: [
    { id: 'ann', display_name: 'Ann', picture_url: null },
    { id: 'bob', display_name: 'Bob', picture_url: null },
  ],
  sub_engagements: [sub('first', 'ann'), sub('second', 'bob')],
};

test('the operator is named above the first message of a run, and again after a transfer', () => {
  const messages = [
    said('one', 'operator', 'first'),
    said('two', 'operator', 'first'),
    said('hm', 'visitor', 'first'),
    said('three', 'operator', 'first'),
    said('hi', 'operator', 'second'),
    said('early', 'operator', 'not known yet'),
  ];
  const names = Array.from(speakersOf(messages, engagement), ([id, { display_name }]) => [id, display_name]);
  assert.deepEqual(names, [
    ['one', 'Ann'],
    ['three', 'Ann'],
    ['hi', 'Bob'],
  ]);
  assert.equal(transferInWords(engagement, 'second'), "You're now chatting with Bob");
});
