/** A piece of a text; with an address where it is one. */
export interface Piece {
  readonly text: string;
  readonly href?: string;
}

const address = /https?:\/\/[^\s<>"'`]+/gi;
/** Belongs to the sentence rather than to the address that it ends. */
const trailing = /[.,;:!?)\]}»”’]+$/;

/** Finds the web addresses in what somebody wrote. Nothing but http and https becomes a link. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: found, index } of text.matchAll(address)) {
    const href = found.replace(trailing, '');
    if (!URL.canParse(href)) continue;
    if (index > from) pieces.push({ text: text.slice(from, index) });
    pieces.push({ text: href, href });
    from = index + href.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}
