/**
 * Writes the characters of a script that are not ASCII as escapes. V8 keeps the source of a script as long as the script, with two
 * bytes for every character if a single one is not ASCII: for the server those are 4 MB.
 */
const foreign = /[^\0-\u007F]/g;
/** An escape here would mean a backslash and five more characters: after a backslash, or in a raw template. */
const notEscapable = /(?<!\\)(?:\\\\)*\\[^\0-\u007F]|\.raw`[^`]*[^\0-\u007F]/;
/** `\u2026` instead of one character. */
export const addedColumns = 5;

export function escapeForeign(code: string): string {
  const [found] = notEscapable.exec(code) ?? [];
  if (found !== undefined) throw new Error(`this cannot be written in ASCII: ${found.slice(-80)}`);
  return code.replaceAll(foreign, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The columns of the characters that `escapeForeign` replaces, by line. */
export function foreignColumns(code: string): number[][] {
  return code.split('\n').map((line) => [...line.matchAll(foreign)].map(({ index }) => index));
}
