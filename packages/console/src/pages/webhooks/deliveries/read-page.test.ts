import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorOf, readPage } from './read-page.ts';

type Answers = readonly { rows: readonly number[]; next: string | null }[];

function fakeReader(answers: Answers) {
  const reads: [string | null, number][] = [];
  const read = async (cursor: string | null, room: number) => {
    reads.push([cursor, room]);
    return answers[reads.length - 1] ?? { rows: [], next: 'on' };
  };
  return { reads, read };
}

test('reading continues over short and empty responses until the page is full', async () => {
  const { reads, read } = fakeReader([
    { rows: [1], next: 'a' },
    { rows: [], next: 'b' },
    { rows: [2, 3], next: 'c' },
  ]);
  assert.deepEqual(await readPage(read, null, 3), { rows: [1, 2, 3], next: 'c', cutShort: false });
  assert.deepEqual(reads, [[null, 3], ['a', 2], ['b', 2]]); // prettier-ignore
});

test('reading ends with the list', async () => {
  const { read } = fakeReader([
    { rows: [1], next: 'a' },
    { rows: [], next: null },
  ]);
  assert.deepEqual(await readPage(read, 'x', 3), { rows: [1], next: null, cutShort: false });
});

test('reading stops after a limit and returns the cursor to continue from', async () => {
  const { reads, read } = fakeReader([]);
  assert.deepEqual(await readPage(read, null, 3), { rows: [], next: 'on', cutShort: true });
  assert.equal(reads.length, 8);
});

test('the cursor is taken from the URL of the next page', () => {
  assert.equal(cursorOf(null), null);
  assert.equal(cursorOf('http://host/webhooks/1/deliveries?state=held&cursor=12.a%2Bb'), '12.a+b');
});
