import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameOrigin, type Provenance } from './same-origin.ts';

function verdict(given: Partial<Provenance>): boolean {
  return isSameOrigin({
    fetchSite: undefined,
    origin: undefined,
    host: 'usher.example:8080',
    publicUrl: '',
    ...given,
  });
}

test('what the browser says settles it', () => {
  assert.equal(verdict({ fetchSite: 'same-origin' }), true);
  // A proxy may have changed the host: the browser knows better.
  assert.equal(verdict({ fetchSite: 'same-origin', origin: 'https://elsewhere.example' }), true);
  for (const fetchSite of ['same-site', 'cross-site', 'none', '', 'nonsense'])
    assert.equal(verdict({ fetchSite, origin: 'http://usher.example:8080' }), false, fetchSite);
});

test('else the origin must be the host that was asked, or where others reach us', () => {
  assert.equal(verdict({}), true);
  assert.equal(verdict({ origin: 'http://usher.example:8080' }), true);
  assert.equal(verdict({ origin: 'https://usher.example', host: 'USHER.example:443' }), true);
  assert.equal(verdict({ origin: 'https://public.example', publicUrl: 'https://public.example/usher' }), true);
  for (const origin of [
    'http://usher.example',
    'http://usher.example:8081',
    'http://evil.example:8080',
    'null',
    '',
    '*',
  ])
    assert.equal(verdict({ origin, publicUrl: 'https://public.example' }), false, origin);
  assert.equal(verdict({ origin: 'http://public.example', publicUrl: 'https://public.example' }), false);
  assert.equal(verdict({ origin: 'null', host: '' }), false);
  assert.equal(verdict({ origin: 'http://a', host: 'not a host' }), false);
});
