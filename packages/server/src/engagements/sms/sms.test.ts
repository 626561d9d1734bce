import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Receipt } from '../../carriers/carrier.ts';
import { afterReceipt, contentOf, isOptOut, cleanErrorText, type OutboundState } from './sms.ts';

const failed: Receipt = { kind: 'failed', why: 'Undelivered.' };

test('a receipt never moves an SMS back, and never changes one that has ended', () => {
  const next = (receipt: Receipt) => (state: OutboundState) => afterReceipt(state, receipt);
  const open = ['queued', 'sending', 'sent'] as const;
  assert.deepEqual(open.map(next({ kind: 'delivered' })), ['delivered', 'delivered', 'delivered']);
  assert.deepEqual(open.map(next(failed)), ['failing', 'failing', 'failing']);
  assert.deepEqual(open.map(next({ kind: 'taken' })), ['sent', 'sent', null]);
  for (const receipt of [{ kind: 'delivered' }, failed, { kind: 'taken' }] as const)
    assert.deepEqual((['delivered', 'failing', 'failed'] as const).map(next(receipt)), [null, null, null]);
});

test('a reply becomes content that can be stored and is not empty', () => {
  assert.equal(contentOf(' Yes ', 0), ' Yes ');
  assert.equal(contentOf('\0\0', 0), '[empty]');
  assert.equal(contentOf(' ', 1), '[media]');
  assert.equal(contentOf('', NaN), '[empty]');
  assert.equal(contentOf('x'.repeat(20_000), 0).length, 10_000);
  assert.equal(contentOf(`${'x'.repeat(9_999)}👍`, 0).isWellFormed(), true);
});

test('an opt-out keyword counts only if it is the whole reply', () => {
  assert.deepEqual(['STOP', ' quit\n', 'Unsubscribe'].map(isOptOut), [true, true, true]);
  assert.deepEqual(['Stop by at ten', '', 'no'].map(isOptOut), [false, false, false]);
});

test('an error text of a carrier is shortened and has no control characters', () => {
  assert.equal(cleanErrorText('a\0b\r\nc'), 'a b c');
  assert.equal(cleanErrorText('x'.repeat(1_000)).length, 255);
});
