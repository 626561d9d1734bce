import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOrigin } from '@usher/contract/origin';
import { findViolations, describeDuration, newDraft, originOf } from './draft.ts';

test('only origins as browsers send them are accepted', () => {
  for (const good of ['https://shop.example', 'http://localhost:3000', 'http://[::1]:80'.replace(':80', '')])
    assert.ok(isOrigin(good), good);
  for (const bad of [
    '',
    'shop.example',
    'https://shop.example/',
    'https://shop.example/x',
    'HTTPS://shop.example',
    'ftp://a.b',
    'null',
    '*',
    'javascript:alert(1)',
  ])
    // prettier-ignore
    assert.ok(!isOrigin(bad), bad);
});

test('a pasted URL becomes its origin, if it has one', () => {
  assert.equal(originOf('https://Shop.example/cart?x=1#y'), 'https://shop.example');
  assert.equal(originOf(' shop.example/cart '), 'https://shop.example');
  assert.equal(originOf('https://shop.example:443'), 'https://shop.example');
  assert.equal(originOf('<img src=x onerror=alert(1)>'), '<img src=x onerror=alert(1)>');
  assert.equal(originOf('javascript:alert(1)'), 'javascript:alert(1)');
});

test('values that the server would refuse are reported before saving', () => {
  assert.deepEqual(findViolations(newDraft), []);
  const faults = findViolations({
    ...newDraft,
    allowed_origins: ['*'],
    allowed_file_content_types: ['image/*', 'png'],
  });
  assert.deepEqual(
    faults.map(({ attribute }) => attribute),
    ['/allowed_origins', '/allowed_file_content_types'],
  );
});

test('seconds are described with all units', () => {
  assert.equal(describeDuration(14_400), '4 h');
  assert.equal(describeDuration(90), '1 min 30 s');
  assert.equal(describeDuration(0), '0 s');
  assert.equal(describeDuration(Number.NaN), '');
});
