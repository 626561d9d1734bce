import { maxPasswordLength } from '@usher/contract/limits';
import Type from 'typebox';
import { countPieces, wordsOf } from './guessability.ts';

/** Longer than NIST requires. As NIST advises, length counts and there are no rules about kinds of characters. */
const minLength = 12;
/** Refuses `aaaaaaaaaaaa` and `121212121212`. */
const minDifferent = 5;
/** Four common words, or three and a year, can be guessed with a word list. */
const minPieces = 5;

export const newPassword = Type.String({
  minLength,
  maxLength: maxPasswordLength,
  description: `${minLength} to ${maxPasswordLength} characters; not made of common words, product words, the own name or keyboard rows`,
});
/** A password that is only compared, so the rules for new passwords do not apply. */
export const givenPassword = Type.String({ minLength: 1, maxLength: maxPasswordLength });

interface OperatorNames {
  readonly name: string;
  readonly email: string;
}

/** Unicode-normalizes a password before it is hashed or compared, because keyboards compose characters differently. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

const tooEasy =
  'is too easy to guess: it is made of common words, product words, your name or keyboard rows. Adding digits or replacing ' +
  'letters does not help. Choose several unrelated words, or use a password manager';

/** Why the password is too weak; `null` if it is acceptable. */
export function weakness(password: string, { name, email }: OperatorNames): string | null {
  const text = normalizePassword(password);
  const plain = text.toLowerCase().trim();
  if (Array.from(text).length < minLength) return `must have at least ${minLength} characters`;
  if (new Set(text).size < minDifferent) return `must have at least ${minDifferent} different characters`;
  if ([name, email].some((own) => normalizePassword(own).toLowerCase().trim() === plain))
    return 'must not be the name or the e-mail address of the operator';
  if (countPieces(plain, wordsOf(name, email)) < minPieces) return tooEasy;
  return null;
}
