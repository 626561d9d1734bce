/** A piece of a text; with an address where it is one. */
export interface Piece {
  /** Where in the text it begins. */
  readonly at: number;
  readonly text: string;
  readonly href?: string;
}

const address = /https?:\/\/[^\s<>"'`]+/gi;
/** At the end of an address, these belong to the sentence around it. */
const trailing = new Set('.,;:!?)]}»”’');

/** Finds the web addresses in what somebody wrote. Nothing but http and https becomes a link. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    const href = withoutTrailing(found);
    if (!URL.canParse(href)) continue;
    if (index > from) pieces.push({ at: from, text: text.slice(from, index) });
    pieces.push({ at: index, text: href, href });
    from = index + href.length;
  }
  if (from < text.length) pieces.push({ at: from, text: text.slice(from) });
  return pieces;
}

/** No regular expression: one that is anchored at the end alone takes quadratic time. */
function withoutTrailing(found: string): string {
  let end = found.length;
  while (trailing.has(found.charAt(end - 1))) end -= 1;
  return found.slice(0, end);
}
