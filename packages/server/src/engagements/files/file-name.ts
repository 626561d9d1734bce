const maxCharacters = 255;
/** A longer suffix is not treated as an extension; it may be lost when the name is shortened. */
const maxExtensionCharacters = 16;

/** Control characters, line separators, and marks that reverse the text direction (they make `gpj.exe` look like `exe.jpg`). */
const misleading = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/gu;

/** The name under which a file is stored: without folders, invisible characters, and trailing characters that some systems ignore. */
export function safeName(sent: string): string {
  const base = sent.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  // Shortening may expose trailing dots or spaces again.
  const name = trimEnd(shorten(trimEnd(base.replaceAll(misleading, ''))));
  return name === '' ? 'file' : name;
}

/** Removes spaces and dots at the end. The look-behind lets a match start once per run, which keeps the time linear. */
function trimEnd(name: string): string {
  return name.trim().replace(/(?<![\s.])[\s.]+$/, '');
}

/** Shortens the name but keeps the extension, because it says what the file is. */
function shorten(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= maxCharacters) return name;
  const extension = extensionOf(name);
  const kept = extension === '' || extension.length > maxExtensionCharacters ? '' : `.${extension}`;
  return characters.slice(0, maxCharacters - kept.length).join('') + kept;
}

/** The characters after the last dot, in lower case. */
export function extensionOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** A Content-Disposition that makes browsers save the file and never show it. Gives the name as RFC 6266 says, with an ASCII fallback. */
export function attachment(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
