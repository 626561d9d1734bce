import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from './messages.ts';
import { operatorHeadings, describeTransfer } from './operator-headings.ts';

const at = '2026-01-01T00:00:00.000Z';
const sub = (id: string, operator_id: string) => ({ id, operator_id, site_id: 'site', started_at: at, ended_at: null });
const message = (id: string, from: Message['from'], subEngagementId: string): Message => ({
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

test('the operator is named above the first of several messages in a row, and again after a transfer', () => {
  const messages = [
    message('one', 'operator', 'first'),
    message('two', 'operator', 'first'),
    message('hm', 'visitor', 'first'),
    message('three', 'operator', 'first'),
    message('hi', 'operator', 'second'),
    message('early', 'operator', 'not known yet'),
  ];
  const names = Array.from(operatorHeadings(messages, engagement), ([id, { display_name }]) => [id, display_name]);
  assert.deepEqual(names, [
    ['one', 'Ann'],
    ['three', 'Ann'],
    ['hi', 'Bob'],
  ]);
  assert.equal(describeTransfer(engagement, 'second'), "You're now chatting with Bob");
});
