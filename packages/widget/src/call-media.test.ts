import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callMediaOf } from './call-media.ts';

test('what is heard and seen: what was agreed on last, else what the engagement began with', () => {
  const oneWay = { audio: 'two_way', video: 'one_way' } as const;
  const audio = { audio: 'two_way', video: null } as const;
  assert.equal(callMediaOf('text', [oneWay]), null);
  assert.equal(callMediaOf('phone', []), null);
  assert.deepEqual(callMediaOf('audio', []), audio);
  assert.deepEqual(callMediaOf('video', []), { audio: 'two_way', video: 'two_way' });
  assert.deepEqual(callMediaOf('video', [audio, oneWay]), oneWay);
  // Told of one of the two before the other.
  assert.deepEqual(callMediaOf('audio', [audio, oneWay]), audio);
});
