import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inShort } from './in-short.ts';

test('a browser is named by what it is, not by what it pretends to be', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  assert.equal(inShort(chrome), 'Chrome on Linux');
  assert.equal(inShort(`${chrome} Edg/156.0`), 'Edge on Linux');
  assert.equal(
    inShort('Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Safari/604.1'),
    'Safari on iOS',
  );
  assert.equal(inShort('curl/8.5.0'), 'curl/8.5.0');
  assert.equal(inShort(''), 'Unknown device');
});
