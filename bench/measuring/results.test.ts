import assert from 'node:assert/strict';
import test from 'node:test';
import { limitOutcome } from './harness.ts';
import { merge, toJson } from './results.ts';

const machine = { node: 'v0', cores: 1, cpu: 'abacus' };

function entry(measure: string, ours: number) {
  return { machine, measures: { [measure]: limitOutcome('s', [ours], 1) } };
}

test('a new run replaces the whole entry, other entries stay, and entries are sorted', () => {
  const before = { webhooks: entry('send', 1), api: entry('renamed since', 2) };
  const after = merge(before, { api: entry('read', 3) });
  assert.deepEqual(Object.keys(after), ['api', 'webhooks']);
  assert.deepEqual(after, { api: entry('read', 3), webhooks: entry('send', 1) });
});

test('all numbers are written with four significant digits', () => {
  const text = toJson({ api: entry('read', 12_345.678) });
  assert.match(text, /"ours": 12350,/);
  assert.match(text, /"ours": \[\s+12350\s+\]/);
  assert.ok(text.endsWith('}\n'));
});
