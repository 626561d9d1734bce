import assert from 'node:assert/strict';
import { test } from 'node:test';
import { words as english } from './languages/en.ts';
import { languageOf, type Words } from './words.ts';

const german: Words = { ...english, locale: 'de', title: 'Chatten Sie mit uns' };
const brazilian: Words = { ...english, locale: 'pt-BR' };
const languages = new Map([
  ['en', english],
  ['de', german],
  ['pt-br', brazilian],
]);

test('the widget speaks the language of the page, or English', () => {
  const spoken = ['de', 'de-AT', 'DE', 'pt-BR', 'en-GB', 'fr', 'pt', ''].map(
    (tag) => languageOf(tag, languages).locale,
  );
  assert.deepEqual(spoken, ['de', 'de', 'de', 'pt-BR', 'en', 'en', 'en', 'en']);
});
