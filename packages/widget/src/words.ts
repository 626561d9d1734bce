import { words as english } from './languages/en.ts';

/** All that a language has to say. */
export type Words = typeof english;

/** What the widget says. `speak` sets it before anything is shown. */
export const words: Words = { ...english };

export function speak(language: Words): void {
  Object.assign(words, language);
}

/** The language with that tag, or with its first part: `de-AT` is `de` where there is no other. English if there is none. */
export function languageOf(tag: string, languages: ReadonlyMap<string, Words>): Words {
  const wanted = tag.toLowerCase();
  return languages.get(wanted) ?? languages.get(wanted.split('-')[0] ?? '') ?? english;
}
