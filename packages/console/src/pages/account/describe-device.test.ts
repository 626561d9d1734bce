import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDevice } from './describe-device.ts';

test('a browser is named by its own token of the user agent, not by the tokens it imitates', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  assert.equal(describeDevice(chrome), 'Chrome on Linux');
  assert.equal(describeDevice(`${chrome} Edg/156.0`), 'Edge on Linux');
  assert.equal(
    describeDevice('Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Safari/604.1'),
    'Safari on iOS',
  );
  assert.equal(describeDevice('curl/8.5.0'), 'curl/8.5.0');
  assert.equal(describeDevice(''), 'Unknown device');
});
