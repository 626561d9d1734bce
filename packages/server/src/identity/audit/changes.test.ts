import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from './changes.ts';

const visibility = { shown: ['name', 'size', 'at', 'secret'], hidden: new Set(['secret']) };

test('only changed fields are listed, with both values', () => {
  const at = new Date('2027-01-31T09:00:00Z');
  const before = { name: 'A', size: { b: 1, a: [1] }, at, version: 1 };
  const after = { name: 'B', size: { a: [1], b: 1 }, at: at.toISOString(), version: 2 };
  assert.deepEqual(changesOf(before, after, visibility), [{ field: 'name', before: 'A', after: 'B' }]);
  assert.deepEqual(changesOf(before, before, visibility), []);
});

test('a created resource has no before values, a deleted one no after values', () => {
  const fields = { name: null, size: 0 };
  assert.deepEqual(changesOf(null, fields, visibility), [
    { field: 'name', after: null },
    { field: 'size', after: 0 },
  ]);
  assert.deepEqual(changesOf(fields, null, visibility), [
    { field: 'name', before: null },
    { field: 'size', before: 0 },
  ]);
});

test('a hidden field is listed without values, and only if it changed', () => {
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: 'x' }, visibility), []);
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: 'y' }, visibility), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf({ secret: null }, { secret: 'y' }, visibility), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf({ secret: 'x' }, { secret: null }, visibility), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf(null, { secret: 'y' }, visibility), [{ field: 'secret', hidden: true }]);
  assert.deepEqual(changesOf(null, { secret: null }, visibility), []);
});

test('a long value is cut to the beginning of its JSON text, without splitting a character', () => {
  const [change] = changesOf({ name: 'short' }, { name: '😀'.repeat(3_000) }, visibility);
  assert.equal(change?.shortened, true);
  assert.equal(change.before, 'short');
  assert.equal(typeof change.after, 'string');
  assert.equal(String(change.after).length, 4_000);
  assert.ok(String(change.after).startsWith('"😀') && String(change.after).isWellFormed());
  const [whole] = changesOf({ name: '' }, { name: 'x'.repeat(3_998) }, visibility);
  assert.equal(whole?.shortened, undefined);
});
