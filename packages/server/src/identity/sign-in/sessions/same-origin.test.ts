import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameOrigin, type RequestOrigin } from './same-origin.ts';

function isAccepted(given: Partial<RequestOrigin>): boolean {
  return isSameOrigin({
    fetchSite: undefined,
    origin: undefined,
    host: 'usher.example:8080',
    publicUrl: '',
    ...given,
  });
}

test('Sec-Fetch-Site decides if the browser sends it', () => {
  assert.equal(isAccepted({ fetchSite: 'same-origin' }), true);
  // A proxy may have changed `Host`.
  assert.equal(isAccepted({ fetchSite: 'same-origin', origin: 'https://elsewhere.example' }), true);
  for (const fetchSite of ['same-site', 'cross-site', 'none', '', 'nonsense'])
    assert.equal(isAccepted({ fetchSite, origin: 'http://usher.example:8080' }), false, fetchSite);
});

test('without Sec-Fetch-Site, Origin must match Host or the public URL', () => {
  assert.equal(isAccepted({}), true);
  assert.equal(isAccepted({ origin: 'http://usher.example:8080' }), true);
  assert.equal(isAccepted({ origin: 'https://usher.example', host: 'USHER.example:443' }), true);
  assert.equal(isAccepted({ origin: 'https://public.example', publicUrl: 'https://public.example/usher' }), true);
  for (const origin of [
    'http://usher.example',
    'http://usher.example:8081',
    'http://evil.example:8080',
    'null',
    '',
    '*',
  ])
    assert.equal(isAccepted({ origin, publicUrl: 'https://public.example' }), false, origin);
  assert.equal(isAccepted({ origin: 'http://public.example', publicUrl: 'https://public.example' }), false);
  assert.equal(isAccepted({ origin: 'null', host: '' }), false);
  assert.equal(isAccepted({ origin: 'http://a', host: 'not a host' }), false);
});
