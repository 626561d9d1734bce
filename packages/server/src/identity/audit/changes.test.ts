import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from './changes.ts';

const told = { shown: ['name', 'size', 'at', 'secret'], hidden: new Set(['secret']) };

test('fields that changed are told with both values, and no others', () => {
  const at = new Date('2027-01-31T09:00:00Z');
  const before = { name: 'A', size: { b: 1, a: [1] }, at, version: 1 };
  const after = { name: 'B', size: { a: [1], b: 1 }, at: at.toISOString(), version: 2 };
  assert.deepEqual(changesOf(before, after, told), [{ field: 'name', before: 'A', after: 'B' }]);
  assert.deepEqual(changesOf(before, before, told), []);
});

test('what is made has no before, what is deleted no after', () => {
  const fields = { name: null, size: 0 };
  assert.deepEqual(changesOf(null, fields, told), [
    { field: 'name', after: null },
    { field: 'size', after: 0 },
  ]);
  assert.deepEqual(changesOf(fields, null, told), [
    { field: 'name', before: null },
    { field: 'size', before: 0 },
  ]);
});

test('of what is hidden it is told that it changed, if it did', () => {
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: 'x' }, told), []);
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: 'y' }, told), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf({ secret: null }, { secret: 'y' }, told), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: null }, told), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf(null, { secret: 'y' }, told), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf(null, { secret: null }, told), []);
});

test('a long value is cut to the beginning of its JSON, between characters', () => {
  const [change] = changesOf({ name: 'short' }, { name: '😀'.repeat(3_000) }, told);
  assert.equal(change?.shortened, true);
  assert.equal(change.before, 'short');
  assert.equal(typeof change.after, 'string');
  assert.equal(String(change.after).length, 4_000);
  assert.ok(String(change.after).startsWith('"😀') && String(change.after).isWellFormed());
  const [whole] = changesOf({ name: '' }, { name: 'x'.repeat(3_998) }, told);
  assert.equal(whole?.shortened, undefined);
});
