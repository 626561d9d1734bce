import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesInWords, positionInWords, waitInWords } from './texts.ts';

test('places and waits in words', () => {
  assert.equal(positionInWords(1), 'You are next in line');
  assert.equal(positionInWords(3), 'You are number 3 in line');
  assert.equal(positionInWords(null), 'Looking for somebody to help you');
  assert.equal(waitInWords(null), null);
  assert.equal(waitInWords(0), 'Usually less than a minute');
  assert.equal(waitInWords(60), 'About 1 minute');
  assert.equal(waitInWords(61), 'About 2 minutes');
  assert.equal(waitInWords(3_600), 'About 1 hour');
  assert.equal(waitInWords(7_000), 'About 2 hours');
});

test('sizes in words', () => {
  assert.deepEqual([12, 1_500, 2_340_000].map(bytesInWords), ['12 B', '2 KB', '2.3 MB']);
});
