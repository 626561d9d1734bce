import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorOf, readPage } from './read-page.ts';

type Answers = readonly { rows: readonly number[]; next: string | null }[];

function asking(answers: Answers) {
  const asked: [string | null, number][] = [];
  const ask = async (cursor: string | null, room: number) => {
    asked.push([cursor, room]);
    return answers[asked.length - 1] ?? { rows: [], next: 'on' };
  };
  return { asked, ask };
}

test('reads on over short and empty answers until the page is full', async () => {
  const { asked, ask } = asking([
    { rows: [1], next: 'a' },
    { rows: [], next: 'b' },
    { rows: [2, 3], next: 'c' },
  ]);
  assert.deepEqual(await readPage(ask, null, 3), { rows: [1, 2, 3], next: 'c', cutShort: false });
  assert.deepEqual(asked, [[null, 3], ['a', 2], ['b', 2]]); // prettier-ignore
});

test('ends with the list', async () => {
  const { ask } = asking([
    { rows: [1], next: 'a' },
    { rows: [], next: null },
  ]);
  assert.deepEqual(await readPage(ask, 'x', 3), { rows: [1], next: null, cutShort: false });
});

test('does not look through everything: it says where it stopped', async () => {
  const { asked, ask } = asking([]);
  assert.deepEqual(await readPage(ask, null, 3), { rows: [], next: 'on', cutShort: true });
  assert.equal(asked.length, 8);
});

test('takes the cursor out of an address', () => {
  assert.equal(cursorOf(null), null);
  assert.equal(cursorOf('http://host/webhooks/1/deliveries?state=held&cursor=12.a%2Bb'), '12.a+b');
});
