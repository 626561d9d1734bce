import { endingOf } from './file-name.ts';

/** What is known of a file when it has arrived. */
export interface Seen {
  readonly name: string;
  /** As the sender declared it: believed only between kinds of text that do nothing. */
  readonly declared: string;
  /** What its first bytes are typical of, if of anything. */
  readonly signature: string | null;
  /** The beginning of its text, if all of it is text. */
  readonly text: string | null;
}

const unknownType = 'application/octet-stream';

/** Formats that may be text from beginning to end, and are known by how they begin. */
const textual = new Set(['application/pdf', 'application/postscript', 'application/rtf', 'text/rtf']);

/** Kinds of plain text that nothing executes, and that nobody could tell apart by their bytes. */
const inert = new Set([
  'application/json',
  'text/calendar',
  'text/csv',
  'text/markdown',
  'text/tab-separated-values',
  'text/vcard',
]);

/**
 * Endings by which a desktop opens a file in a browser or runs it, whatever is in it: a picture that is also a page is a
 * page once it is saved under such a name. So the name decides, for the worse only.
 */
const active = new Map<string, string>([
  ...['html', 'htm', 'shtml', 'xhtml', 'xht', 'mht', 'mhtml', 'hta'].map((ending) => [ending, 'text/html'] as const),
  ...['svg', 'svgz'].map((ending) => [ending, 'image/svg+xml'] as const),
  ...['xml', 'xsl', 'xslt'].map((ending) => [ending, 'application/xml'] as const),
  ...['js', 'mjs', 'cjs', 'jse'].map((ending) => [ending, 'text/javascript'] as const),
  ...['bat', 'cmd', 'ps1', 'vbs', 'vbe', 'wsf', 'wsh', 'sh', 'command', 'reg', 'url', 'desktop', 'scf', 'lnk'].map(
    (ending) => [ending, unknownType] as const,
  ),
]);

/** What a file is: by its bytes, and by its name where that makes it more dangerous. */
export function contentTypeOf({ name, declared, signature, text }: Seen, allowed: readonly string[]): string {
  const byName = active.get(endingOf(name));
  if (byName !== undefined) return byName;
  // Two letters make a bitmap: what reads as text from beginning to end is text, whatever its first letters are.
  if (text === null) return isMarkup(signature) ? unknownType : (signature ?? unknownType);
  const markup = markupOf(text);
  if (markup !== null) return markup;
  if (signature !== null && textual.has(signature)) return signature;
  const kind = declared.toLowerCase();
  return inert.has(kind) && isAllowed(kind, allowed) ? kind : 'text/plain';
}

/** Whether one of the types or patterns (`image/*`) takes it. */
export function isAllowed(type: string, allowed: readonly string[]): boolean {
  const [family = ''] = type.split('/', 1);
  return allowed.some((each) => [type, `${family}/*`].includes(each.toLowerCase()));
}

/** Markup that is no UTF-8 text: of a kind nobody has looked into. */
function isMarkup(signature: string | null): boolean {
  return signature !== null && /\b(?:html|xml|svg)\b/.test(signature);
}

/** Text that begins as a tag does is markup: a page, unless it says that it is something else. */
function markupOf(text: string): string | null {
  if (!/^<[a-z!?/]/i.test(text)) return null;
  const root = text.replace(/^(?:<\?[^>]*\?>|<!--[^]*?-->|<!doctype[^>]*>|\s)+/i, '');
  if (/^<(?:[\w.-]+:)?svg\b/i.test(root) || /^[^]*?<!doctype\s+svg\b/i.test(text)) return 'image/svg+xml';
  if (/^<(?:[\w.-]+:)?html\b/i.test(root) || !/^<\?xml\b/i.test(text)) return 'text/html';
  return 'application/xml';
}
