const mostCharacters = 255;
/** An ending longer than this is not one; it may go with the rest when a name is cut. */
const mostEndingCharacters = 16;

/** Controls; marks that change the direction of what follows, so that `exe.jpg` reads as `gpj.exe`; line separators. */
const misleading = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/gu;

/** A file's name as it is kept: no folders, nothing that cannot be seen, no end that some systems would ignore. */
export function safeName(sent: string): string {
  const base = sent.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  // Cutting may lay bare another such end.
  const name = trimmed(cut(trimmed(base.replaceAll(misleading, ''))));
  return name === '' ? 'file' : name;
}

/** Without the spaces and dots at the end. The look-behind lets a match begin once per run of them: linear time. */
function trimmed(name: string): string {
  return name.trim().replace(/(?<![\s.])[\s.]+$/, '');
}

/** The ending stays: it says what the file is. */
function cut(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= mostCharacters) return name;
  const ending = endingOf(name);
  const kept = ending === '' || ending.length > mostEndingCharacters ? '' : `.${ending}`;
  return characters.slice(0, mostCharacters - kept.length).join('') + kept;
}

/** What follows the last dot, in lower case. */
export function endingOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** To be saved, never shown; the name for every client (RFC 6266), with what an old one can read before it. */
export function attachment(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
