import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callMediaOf } from './call-media.ts';

const oneWay = { audio: 'two_way', video: 'one_way' } as const;
const twoWay = { audio: 'two_way', video: 'two_way' } as const;
const audio = { audio: 'two_way', video: null } as const;

test('what is heard and seen: what was agreed on last, else what the engagement began with', () => {
  assert.equal(callMediaOf('text', { accepted: [oneWay], pending: null }), null);
  assert.equal(callMediaOf('phone', { accepted: [], pending: null }), null);
  assert.deepEqual(callMediaOf('audio', { accepted: [], pending: null }), audio);
  assert.deepEqual(callMediaOf('video', { accepted: [], pending: null }), twoWay);
  assert.deepEqual(callMediaOf('video', { accepted: [audio, oneWay], pending: null }), oneWay);
});

test('told that it is by video before what was agreed on, it is what was asked: no camera goes on for a moment', () => {
  assert.deepEqual(callMediaOf('video', { accepted: [audio], pending: oneWay }), oneWay);
  assert.deepEqual(callMediaOf('video', { accepted: [], pending: oneWay }), oneWay);
  // Asked and not agreed on.
  assert.deepEqual(callMediaOf('video', { accepted: [oneWay], pending: twoWay }), oneWay);
  assert.deepEqual(callMediaOf('audio', { accepted: [], pending: twoWay }), audio);
});
