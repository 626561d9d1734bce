import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Watermark } from './watermark.ts';

test('with nothing under way the mark is the last number of the look before', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, nextXid: 10, lastSeq: 100 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 12, nextXid: 12, lastSeq: 150 });
  assert.equal(mark.safe, 100);
});

test('a transaction under way has the mark until it ends', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, nextXid: 10, lastSeq: 100 });
  mark.note({ xmin: 10, nextXid: 20, lastSeq: 150 });
  mark.note({ xmin: 10, nextXid: 30, lastSeq: 200 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 21, nextXid: 40, lastSeq: 250 });
  assert.equal(mark.safe, 100);
  mark.note({ xmin: 40, nextXid: 40, lastSeq: 300 });
  assert.equal(mark.safe, 250);
});

test('a transaction that waits in COMMIT above every ended one has the mark as well', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, nextXid: 10, lastSeq: 100 });
  // 10 has an id and number 101; nothing has ended since, so a snapshot shows nothing of 10 and xmin stays.
  mark.note({ xmin: 10, nextXid: 11, lastSeq: 101 });
  mark.note({ xmin: 10, nextXid: 11, lastSeq: 101 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 11, nextXid: 11, lastSeq: 101 });
  assert.equal(mark.safe, 101);
});

test('a long transaction costs a bounded number of remembered moments, and none of the safety', () => {
  const mark = new Watermark();
  for (let look = 1; look <= 10_000; look += 1) mark.note({ xmin: 5, nextXid: 10 + look, lastSeq: look * 10 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 10_010, nextXid: 10_011, lastSeq: 100_010 });
  assert.ok(mark.safe <= 99_990, 'numbers of transactions that may be under way');
  mark.note({ xmin: 10_011, nextXid: 10_011, lastSeq: 100_010 });
  assert.equal(mark.safe, 100_010);
});
