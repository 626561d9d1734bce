import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretFault } from './webhook-secret.ts';

const ofBytes = (count: number): string => `whsec_${Buffer.alloc(count, 7).toString('base64')}`;

test('a secret is whsec_ followed by 24 to 64 bytes in base64, with or without padding', () => {
  const unpadded = ofBytes(32).replaceAll('=', '');
  for (const good of [ofBytes(24), ofBytes(32), ofBytes(64), unpadded]) assert.equal(secretFault(good), null, good);
  const leftOver = ofBytes(32).replace(/.=$/, 'F=');
  for (const bad of ['x', ofBytes(23), ofBytes(65), leftOver, `${ofBytes(64)}=`, ofBytes(32).slice(6), 'whsec_'])
    assert.equal(secretFault(bad), 'must be whsec_ followed by 24 to 64 bytes in base64', bad);
});
