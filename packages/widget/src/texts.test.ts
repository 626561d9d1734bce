import assert from 'node:assert/strict';
import { test } from 'node:test';
import { texts as english } from './languages/en.ts';
import { languageFor, type Texts } from './texts.ts';

const german: Texts = { ...english, locale: 'de', title: 'Chatten Sie mit uns' };
const brazilian: Texts = { ...english, locale: 'pt-BR' };
const languages = new Map([
  ['en', english],
  ['de', german],
  ['pt-br', brazilian],
]);

test('the widget uses the language of the page, or English', () => {
  const locales = ['de', 'de-AT', 'DE', 'pt-BR', 'en-GB', 'fr', 'pt', ''].map(
    (tag) => languageFor(tag, languages).locale,
  );
  assert.deepEqual(locales, ['de', 'de', 'de', 'pt-BR', 'en', 'en', 'en', 'en']);
});
