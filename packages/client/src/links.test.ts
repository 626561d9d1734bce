import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from './links.ts';

test('URLs in a text become links, without the punctuation around them', () => {
  assert.deepEqual(piecesOf('See https://a.example/b?c=1, or (http://d.example).'), [
    { at: 0, text: 'See ' },
    { at: 4, text: 'https://a.example/b?c=1', href: 'https://a.example/b?c=1' },
    { at: 27, text: ', or (' },
    { at: 33, text: 'http://d.example', href: 'http://d.example' },
    { at: 49, text: ').' },
  ]);
});

test('nothing else becomes a link', () => {
  for (const text of ['javascript:alert(1)', 'data:text/html,x', '//a.example', 'https://', '<a href=x>', ''])
    assert.ok(piecesOf(text).every(({ href }) => href === undefined));
  assert.equal(
    piecesOf('https:// x')
      .map(({ text }) => text)
      .join(''),
    'https:// x',
  );
});
