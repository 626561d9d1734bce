import { texts as english } from './languages/en.ts';

/** All texts of the widget, in one language. */
export type Texts = typeof english;

/** The texts in the language of the page. `setLanguage` fills them before anything is rendered. */
export const texts: Texts = { ...english };

export function setLanguage(language: Texts): void {
  Object.assign(texts, language);
}

/** The language with the tag, or with its first part (`de` for `de-AT`). English if there is neither. */
export function languageFor(tag: string, languages: ReadonlyMap<string, Texts>): Texts {
  const key = tag.toLowerCase();
  return languages.get(key) ?? languages.get(key.split('-')[0] ?? '') ?? english;
}
