import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseColour, textColourOn } from './colour.ts';

test('a colour is parsed from three or six digits, with or without #', () => {
  assert.equal(parseColour('#1F5fbf'), '#1f5fbf');
  assert.equal(parseColour(' 15b '), '#1155bb');
  for (const text of ['', 'red', '#12', '#12345', '#12345g', '#123;--x:1']) assert.equal(parseColour(text), null);
});

test('the text colour is readable on the background', () => {
  assert.equal(textColourOn('#1f5fbf'), '#ffffff');
  assert.equal(textColourOn('#000000'), '#ffffff');
  assert.equal(textColourOn('#ffffff'), '#111111');
  assert.equal(textColourOn('#ffd400'), '#111111');
  assert.equal(textColourOn('#767676'), '#ffffff');
});
