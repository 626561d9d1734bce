import { maxPasswordLength } from '@usher/contract/limits';
import Type from 'typebox';
import { piecesOf, wordsOf } from './guessability.ts';

/** NIST's limits, a little longer at the short end: length is what counts, and there are no rules of which characters. */
const fewest = 12;
/** `aaaaaaaaaaaa` and `121212121212` are long too. */
const fewestDifferent = 5;
/** Four common words, or three with a year, can be guessed with a list of words and some patience. */
const fewestPieces = 5;

export const newPassword = Type.String({
  minLength: fewest,
  maxLength: maxPasswordLength,
  description: `${fewest} to ${maxPasswordLength} characters; not made of common words, of words about this product, of the own name, or of rows of keys`,
});
/** One that is only compared: which may be chosen is said where it is. */
export const givenPassword = Type.String({ minLength: 1, maxLength: maxPasswordLength });

interface Whose {
  readonly name: string;
  readonly email: string;
}

/** The same characters however a keyboard has put them together: what is hashed and compared. */
export function normalized(password: string): string {
  return password.normalize('NFKC');
}

const easy =
  'is too easy to guess: it is made of common words, words about this product, the own name, or rows of keys, whatever digits ' +
  'are added or put for letters. Choose several words that have nothing to do with each other, or have a password manager make one';

/** What speaks against choosing this one; `null`: nothing does. */
export function weakness(password: string, { name, email }: Whose): string | null {
  const text = normalized(password);
  const plain = text.toLowerCase().trim();
  if (Array.from(text).length < fewest) return `must have at least ${fewest} characters`;
  if (new Set(text).size < fewestDifferent) return `must have at least ${fewestDifferent} different characters`;
  if ([name, email].some((known) => normalized(known).toLowerCase().trim() === plain))
    return 'must not be the name or the e-mail address of the operator';
  if (piecesOf(plain, wordsOf(name, email)) < fewestPieces) return easy;
  return null;
}
