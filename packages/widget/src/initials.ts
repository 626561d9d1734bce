/** The first letters of the first and the last word of a name: `AL` for Ada King Lovelace. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : words;
  // By code points: half of a character would be shown as none.
  return ends.map((word) => String.fromCodePoint(word?.codePointAt(0) ?? 0x3f).toUpperCase()).join('');
}
