import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenOption, fileIdOf, mergeMessages, markFileDeleted, type Attachment, type Message } from './messages.ts';

function message(id: string, second: number, more: Partial<Message> = {}): Message {
  const timestamp = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
  return {
    id,
    timestamp,
    content: id,
    status: 'sent',
    from: 'operator',
    subEngagementId: 'sub',
    attachment: null,
    ...more,
  };
}

const card = (...values: string[]): Attachment => ({
  type: 'single_choice',
  options: values.map((value) => ({ text: value, value })),
});
const answer = (selected_option: string): Attachment => ({ type: 'single_choice_response', selected_option });

test('each message is shown once, in the order the server received them', () => {
  const current = mergeMessages([], [message('b', 2), message('a', 1)]);
  const all = mergeMessages(current, [message('c', 3), message('a', 1)]);
  assert.deepEqual(
    all.map(({ id }) => id),
    ['a', 'b', 'c'],
  );
});

test('a delivered message stays delivered and keeps the files that its status event leaves out', () => {
  const files: Attachment = { type: 'files', files: [] };
  const sent = message('a', 1, { attachment: files });
  const [delivered] = mergeMessages([sent], [message('a', 1, { status: 'delivered' })]);
  assert.deepEqual(delivered?.attachment, files);
  assert.equal(mergeMessages([message('a', 1, { status: 'delivered' })], [sent])[0]?.status, 'delivered');
});

test('the next answer that a card offers is its chosen option', () => {
  const first = message('first', 1, { attachment: card('yes', 'no') });
  const other = message('other', 2, { attachment: answer('maybe') });
  const chosen = message('chosen', 3, { attachment: answer('no') });
  assert.equal(chosenOption(first, [first]), null);
  assert.equal(chosenOption(first, [first, other]), null);
  assert.equal(chosenOption(first, [first, other, chosen]), 'no');
});

test('when a card is sent twice, the next answer belongs to the second', () => {
  const first = message('first', 1, { attachment: card('yes', 'no') });
  const second = message('second', 2, { attachment: card('yes', 'no') });
  const chosen = message('chosen', 3, { attachment: answer('yes') });
  const all = [first, second, chosen];
  assert.equal(chosenOption(first, all), null);
  assert.equal(chosenOption(second, all), 'yes');
});

test('a deleted file is marked in every message that contains it, and no other file is', () => {
  const file = (id: string) => ({ url: `https://usher/files/${id}`, name: id, content_type: '', deleted: false });
  const all = [
    message('one', 1, { attachment: { type: 'files', files: [file('f'), file('g')] } }),
    message('two', 2, { attachment: { type: 'files', files: [file('f')] } }),
    message('three', 3),
  ];
  const shown = markFileDeleted(all, 'f').map(({ attachment }) =>
    attachment?.type === 'files' ? attachment.files.map(({ deleted }) => deleted) : null,
  );
  assert.deepEqual(shown, [[true, false], [true], null]);
});

test('the id of a file is the last part of its URL', () => {
  const file = { url: 'https://elsewhere.example/engagements/e/files/f', name: '', content_type: '', deleted: false };
  assert.equal(fileIdOf(file), 'f');
});
