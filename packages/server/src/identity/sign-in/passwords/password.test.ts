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
    'a lamp by the river, '.repeat(12),
    'wrong turn at the lighthouse',
    'kT7#vq2LmX9d',
    'blå himmel over fjorden',
  ])
    assert.equal(weakness(good, ann), null, good);
  // One pictograph is one character, and what is put together of two counts as the one it is.
  assert.match(weakness('🐢🐇🦊🐻🐼🐨🐯🦁🐮🐷🐸', ann) ?? '', /at least 12/);
  assert.match(weakness('é'.normalize('NFD').repeat(6), ann) ?? '', /at least 12/);
});

test('what is too uniform, or the own name, is refused', () => {
  for (const [bad, why] of [
    ['aaaaaaaaaaaaaaaa', /different/],
    ['121212121212', /different/],
    ['ANNABEL@example.com', /name or the e-mail/],
    ['annabel archer-stone', /name or the e-mail/],
  ] as const)
    assert.match(weakness(bad, ann) ?? '', why, bad);
});

test('what is put together of common words and rows of keys is refused, however it is spelled', () => {
  for (const bad of [
    'Password1234',
    ' qwertyuiop123 ',
    'ｐａｓｓｗｏｒｄ１２３４',
    'P4$$w0rd-2026!',
    '2026password2026',
    'passwordpassword',
    'letmein12345!!',
    'Welcome.Admin.2026',
    'correct horse battery staple',
    'CorrectHorseBatteryStaple1',
    '1q2w3e4r5t6y',
    '1qaz2wsx3edc4rfv',
    'qwertyuiopasdfghjkl',
    '123456789abc',
    '098765432109',
    'abcdefghijklmnop',
    'abc123abc123',
    'trustno1trustno1',
    'iloveyou2026!',
    'Michael-Jennifer-99',
    'unbelievable',
    'sunshine princess monkey',
    'abcde'.repeat(51),
  ])
    assert.match(weakness(bad, ann) ?? '', /too easy to guess.*Choose/, bad);
});

test('so is what is put together of words about this product, or of the own name', () => {
  for (const bad of [
    'usher-operator',
    'UsherConsole2026',
    'u5h3r-c0n50l3!',
    'Engagement!Queue7',
    'supermanager2026',
    'helpdesk-callcenter',
    'webhook webhook webhook',
    'Annabel.Archer.1990',
    'stone-annabel-example',
    '4nn4bel-4rcher',
  ])
    assert.match(weakness(bad, ann) ?? '', /too easy to guess/, bad);
});

test('one common word among others is no harm', () => {
  for (const good of [
    'my usher wore velvet gloves',
    'seven monkeys in a tram',
    'password of the heron',
    'Tallinn kell kuus 17',
  ])
    assert.equal(weakness(good, ann), null, good);
});

test('the longest password is looked at in no time', () => {
  // Nothing in it repeats, and nothing is a word.
  const mixed = Array.from({ length: 256 }, (_, at) => 'xjqvzkwbpg07'[(at * at * 7 + at) % 12]).join('');
  const began = performance.now();
  for (const long of [mixed, 'usher'.repeat(51), `${'a'.repeat(255)}b`, 'ab1!'.repeat(64)]) weakness(long, ann);
  assert.ok(performance.now() - began < 500, String(performance.now() - began));
});

test('the same characters are the same password, whichever way they were typed', () => {
  assert.equal(normalized('caf\u00e9 au lait'), normalized('cafe\u0301 au lait'));
  assert.notEqual(normalized('a lamp'), normalized('A lamp'));
});
