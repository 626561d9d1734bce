import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callMediaOf } from './call-media.ts';

const oneWay = { audio: 'two_way', video: 'one_way' } as const;
const twoWay = { audio: 'two_way', video: 'two_way' } as const;
const audio = { audio: 'two_way', video: null } as const;

test('a call uses the media of the last accepted upgrade, or those it began with', () => {
  assert.equal(callMediaOf('text', { accepted: [oneWay], pending: null }), null);
  assert.equal(callMediaOf('phone', { accepted: [], pending: null }), null);
  assert.deepEqual(callMediaOf('audio', { accepted: [], pending: null }), audio);
  assert.deepEqual(callMediaOf('video', { accepted: [], pending: null }), twoWay);
  assert.deepEqual(callMediaOf('video', { accepted: [audio, oneWay], pending: null }), oneWay);
});

test('the requested media is used when the feed reports video before the upgrade is accepted', () => {
  assert.deepEqual(callMediaOf('video', { accepted: [audio], pending: oneWay }), oneWay);
  assert.deepEqual(callMediaOf('video', { accepted: [], pending: oneWay }), oneWay);
  // The pending request is not accepted.
  assert.deepEqual(callMediaOf('video', { accepted: [oneWay], pending: twoWay }), oneWay);
  assert.deepEqual(callMediaOf('audio', { accepted: [], pending: twoWay }), audio);
});
