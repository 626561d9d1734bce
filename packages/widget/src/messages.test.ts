import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenOf, fileIdOf, merge, withDeleted, type Attachment, type Message } from './messages.ts';

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

test('each message once, in the order the server received them', () => {
  const known = merge([], [message('b', 2), message('a', 1)]);
  const all = merge(known, [message('c', 3), message('a', 1)]);
  assert.deepEqual(
    all.map(({ id }) => id),
    ['a', 'b', 'c'],
  );
});

test('what was delivered stays so, and keeps the files that the news of it leaves out', () => {
  const files: Attachment = { type: 'files', files: [] };
  const sent = message('a', 1, { attachment: files });
  const [delivered] = merge([sent], [message('a', 1, { status: 'delivered' })]);
  assert.deepEqual(delivered?.attachment, files);
  assert.equal(merge([message('a', 1, { status: 'delivered' })], [sent])[0]?.status, 'delivered');
});

test('a card is answered by the next answer that it offers', () => {
  const first = message('first', 1, { attachment: card('yes', 'no') });
  const other = message('other', 2, { attachment: answer('maybe') });
  const chosen = message('chosen', 3, { attachment: answer('no') });
  assert.equal(chosenOf(first, [first]), null);
  assert.equal(chosenOf(first, [first, other]), null);
  assert.equal(chosenOf(first, [first, other, chosen]), 'no');
});

test('the same card again takes the answer that comes behind it', () => {
  const first = message('first', 1, { attachment: card('yes', 'no') });
  const second = message('second', 2, { attachment: card('yes', 'no') });
  const chosen = message('chosen', 3, { attachment: answer('yes') });
  const all = [first, second, chosen];
  assert.equal(chosenOf(first, all), null);
  assert.equal(chosenOf(second, all), 'yes');
});

test('a file that was deleted is shown as such in every message that has it, and no other is', () => {
  const file = (id: string) => ({ url: `https://usher/files/${id}`, name: id, content_type: '', deleted: false });
  const all = [
    message('one', 1, { attachment: { type: 'files', files: [file('f'), file('g')] } }),
    message('two', 2, { attachment: { type: 'files', files: [file('f')] } }),
    message('three', 3),
  ];
  const shown = withDeleted(all, 'f').map(({ attachment }) =>
    attachment?.type === 'files' ? attachment.files.map(({ deleted }) => deleted) : null,
  );
  assert.deepEqual(shown, [[true, false], [true], null]);
});

test('a file is known by the end of its address', () => {
  const file = { url: 'https://elsewhere.example/engagements/e/files/f', name: '', content_type: '', deleted: false };
  assert.equal(fileIdOf(file), 'f');
});
