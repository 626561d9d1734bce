import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Watermark } from './watermark.ts';

test('without running transactions the watermark is the last sequence number of the previous reading', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, nextXid: 10, lastSeq: 100 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 12, nextXid: 12, lastSeq: 150 });
  assert.equal(mark.safe, 100);
});

test('a running transaction holds the watermark until it ends', () => {
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

test('a transaction that waits in COMMIT holds the watermark, even if its id is above all ended ones', () => {
  const mark = new Watermark();
  mark.note({ xmin: 10, nextXid: 10, lastSeq: 100 });
  // Transaction 10 has written number 101. No transaction has ended since, so a snapshot does not show 10, and xmin stays.
  mark.note({ xmin: 10, nextXid: 11, lastSeq: 101 });
  mark.note({ xmin: 10, nextXid: 11, lastSeq: 101 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 11, nextXid: 11, lastSeq: 101 });
  assert.equal(mark.safe, 101);
});

test('a long transaction needs a limited number of stored readings, and the watermark stays safe', () => {
  const mark = new Watermark();
  for (let reading = 1; reading <= 10_000; reading += 1)
    mark.note({ xmin: 5, nextXid: 10 + reading, lastSeq: reading * 10 });
  assert.equal(mark.safe, 0);
  mark.note({ xmin: 10_010, nextXid: 10_011, lastSeq: 100_010 });
  assert.ok(mark.safe <= 99_990, 'the watermark must be below numbers of transactions that may still run');
  mark.note({ xmin: 10_011, nextXid: 10_011, lastSeq: 100_010 });
  assert.equal(mark.safe, 100_010);
});
