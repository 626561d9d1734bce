import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colourOf, textOn } from './colour.ts';

test('colours in three and six digits, with and without the sign', () => {
  assert.equal(colourOf('#1F5fbf'), '#1f5fbf');
  assert.equal(colourOf(' 15b '), '#1155bb');
  for (const text of ['', 'red', '#12', '#12345', '#12345g', '#123;--x:1']) assert.equal(colourOf(text), null);
});

test('what stands on a colour can be read', () => {
  assert.equal(textOn('#1f5fbf'), '#ffffff');
  assert.equal(textOn('#000000'), '#ffffff');
  assert.equal(textOn('#ffffff'), '#111111');
  assert.equal(textOn('#ffd400'), '#111111');
  assert.equal(textOn('#767676'), '#ffffff');
});
