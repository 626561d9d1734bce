import { commonWords } from './common-words.ts';

/**
 * Estimates how hard a password is to guess: the smallest number of pieces it consists of. One piece is a common word, a row of
 * keys, letters or digits in order (`qwerty`, `4321`, `abcd`), or a few digits (`2026`). Every other character is a piece of its
 * own. Repetitions count once. Capital letters, digits in place of letters (`p4ssw0rd`) and signs between words do not count,
 * because attackers try them all.
 */
export function countPieces(password: string, ownWords: readonly string[] = []): number {
  const text = withoutRepeats(password.toLowerCase());
  const words = ownWords.length === 0 ? commonWords : new Set([...commonWords, ...ownWords]);
  const { core, ends } = withoutEnds(text);
  return Math.min(
    ...spellings(text).map((spelling) => minPieces(spelling, words)),
    ...spellings(core).map((spelling) => minPieces(spelling, words) + ends),
  );
}

/** The words of a name or an e-mail address, which its owner might use in a password. */
export function wordsOf(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.toLowerCase().split(/[^\p{L}]+/u)).filter((word) => word.length >= minWordLength);
}

const minWordLength = 3;
const maxWordLength = 32;
/** Up to this many digits or signs count as one piece: a year, or the end of a word. */
const digitsInPiece = 4;
const minRowLength = 3;

/** Returns `abc` for `abcabcab`: the shortest prefix that the text repeats at least once. */
function withoutRepeats(text: string): string {
  const characters = Array.from(text);
  // border[n]: the longest proper prefix of the first n + 1 characters that is also their suffix (Knuth, Morris and Pratt).
  const border = [0];
  for (let at = 1, length = 0; at < characters.length; at += 1) {
    while (length > 0 && characters[at] !== characters[length]) length = border[length - 1] ?? 0;
    if (characters[at] === characters[length]) length += 1;
    border[at] = length;
  }
  const period = characters.length - (border.at(-1) ?? 0);
  return period * 2 <= characters.length ? characters.slice(0, period).join('') : text;
}

/** Strips digits and signs from both ends, and counts the pieces they make. */
function withoutEnds(text: string): { readonly core: string; readonly ends: number } {
  const characters = Array.from(text);
  const isLetter = (character: string): boolean => /\p{L}/u.test(character);
  const first = characters.findIndex(isLetter);
  const last = characters.findLastIndex(isLetter);
  if (first === -1) return { core: text, ends: 0 };
  const dropped = first + characters.length - 1 - last;
  return { core: characters.slice(first, last + 1).join(''), ends: Math.ceil(dropped / digitsInPiece) };
}

const lookalikes: Readonly<Record<string, string>> = {
  '0': 'o',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '9': 'g',
  '@': 'a',
  $: 's',
  '!': 'i',
  '+': 't',
  '€': 'e',
};

/** The text as it is, and with letters in place of lookalikes; `1` may stand for `i` or `l`. */
function spellings(text: string): readonly string[] {
  const read = (one: string): string =>
    Array.from(text, (character) => (character === '1' ? one : (lookalikes[character] ?? character))).join('');
  return [text, read('i'), read('l')];
}

/** The fewest pieces over all ways to split the text. */
function minPieces(text: string, words: ReadonlySet<string>): number {
  const characters = Array.from(text);
  const fewest: number[] = [0];
  for (let end = 1; end <= characters.length; end += 1) {
    let best = (fewest[end - 1] ?? 0) + costOf(characters[end - 1] ?? '');
    for (let start = Math.max(0, end - maxWordLength); start <= end - minWordLength; start += 1) {
      const part = characters.slice(start, end);
      if (words.has(part.join('')) || isRow(part) || isShortNumber(part))
        best = Math.min(best, (fewest[start] ?? 0) + 1);
    }
    fewest[end] = best;
  }
  return fewest[characters.length] ?? 0;
}

/** Separators between words cost nothing. */
function costOf(character: string): number {
  return /[\s\-_.,;:/\\]/.test(character) ? 0 : 1;
}

function isShortNumber(part: readonly string[]): boolean {
  return part.length <= digitsInPiece && part.every((character) => /\d/.test(character));
}

const rows = [
  '1234567890',
  'qwertyuiop[]',
  'qwertzuiopü',
  'azertyuiop',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'yxcvbnm',
  'wxcvbn',
];

/** One repeated character, consecutive characters (`efgh`, `4321`), or neighbours on the keyboard. */
function isRow(part: readonly string[]): boolean {
  if (part.length < minRowLength) return false;
  const text = part.join('');
  const points = part.map((character) => character.codePointAt(0) ?? 0);
  const step = (points[1] ?? 0) - (points[0] ?? 0);
  if (Math.abs(step) <= 1 && points.every((point, index) => index === 0 || point - (points[index - 1] ?? 0) === step))
    return true;
  const backwards = part.toReversed().join('');
  return rows.some((row) => row.includes(text) || row.includes(backwards));
}
