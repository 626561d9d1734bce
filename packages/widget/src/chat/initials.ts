/** The first letters of the first and the last word of a name: `AL` for Ada King Lovelace. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const firstAndLast = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  // Code points, not UTF-16 units: half of a surrogate pair is not a character.
  return firstAndLast.map((word) => String.fromCodePoint(word?.codePointAt(0) ?? 0x3f).toUpperCase()).join('');
}
