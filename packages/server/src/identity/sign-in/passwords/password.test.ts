import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalized, weakness } from './password.ts';

const ann = { name: 'Annabel Archer-Stone', email: 'annabel@example.com' };

test('length is what counts', () => {
  for (const good of [
    'a lamp by the river',
    'Tr0ub4dor&3-x',
    'пароль длинный',
    '🐢🐇🦊🐻 run together',
    'abcde'.repeat(51),
  ])
    assert.equal(weakness(good, ann), null, good);
  // One pictograph is one character, and what is put together of two counts as the one it is.
  assert.match(weakness('🐢🐇🦊🐻🐼🐨🐯🦁🐮🐷🐸', ann) ?? '', /at least 12/);
  assert.match(weakness('é'.normalize('NFD').repeat(6), ann) ?? '', /at least 12/);
});

test('those that are tried first are refused, in any case', () => {
  for (const [bad, why] of [
    ['aaaaaaaaaaaaaaaa', /different/],
    ['121212121212', /different/],
    ['Password1234', /tried first/],
    [' qwertyuiop123 ', /tried first/],
    ['ｐａｓｓｗｏｒｄ１２３４', /tried first/],
    ['ANNABEL@example.com', /name or the e-mail/],
    ['annabel archer-stone', /name or the e-mail/],
  ] as const)
    assert.match(weakness(bad, ann) ?? '', why, bad);
});

test('the same characters are the same password, whichever way they were typed', () => {
  assert.equal(normalized('caf\u00e9 au lait'), normalized('cafe\u0301 au lait'));
  assert.notEqual(normalized('a lamp'), normalized('A lamp'));
});
