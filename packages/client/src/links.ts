/** A piece of a text; with `href` if it is a link. */
export interface Piece {
  /** The offset of the piece in the text. */
  readonly at: number;
  readonly text: string;
  readonly href?: string;
}

const urlPattern = /https?:\/\/[^\s<>"'`]+/gi;
/** Punctuation that belongs to the sentence and not to the end of a URL. */
const trailing = new Set('.,;:!?)]}»”’');

/** Finds the URLs in a text. Only http and https become links. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(urlPattern)) {
    const href = withoutTrailing(found);
    if (!URL.canParse(href)) continue;
    if (index > from) pieces.push({ at: from, text: text.slice(from, index) });
    pieces.push({ at: index, text: href, href });
    from = index + href.length;
  }
  if (from < text.length) pieces.push({ at: from, text: text.slice(from) });
  return pieces;
}

/** Not a regular expression: one that is anchored only at the end takes quadratic time. */
function withoutTrailing(found: string): string {
  let end = found.length;
  while (trailing.has(found.charAt(end - 1))) end -= 1;
  return found.slice(0, end);
}
