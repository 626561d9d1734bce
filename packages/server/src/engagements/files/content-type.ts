import { extensionOf } from './file-name.ts';

/** What is known about a file when all its bytes have arrived. */
export interface FileEvidence {
  readonly name: string;
  /** The type that the sender declared. Trusted only to choose between inert kinds of text. */
  readonly declared: string;
  /** The type that the first bytes indicate, if any. */
  readonly signature: string | null;
  /** The beginning of the text, if the whole file is text. */
  readonly text: string | null;
}

const unknownType = 'application/octet-stream';

/** Formats that may consist of text only, and are recognised by their first bytes. */
const textual = new Set(['application/pdf', 'application/postscript', 'application/rtf', 'text/rtf']);

/** Kinds of plain text that nothing executes, and that cannot be distinguished by their bytes. */
const inert = new Set([
  'application/json',
  'text/calendar',
  'text/csv',
  'text/markdown',
  'text/tab-separated-values',
  'text/vcard',
]);

/**
 * File extensions that make a desktop open the file in a browser, or run it, whatever its content. An image that is also valid HTML
 * becomes a page when saved under such a name. So the name may make the type more dangerous, never less.
 */
const active = new Map<string, string>([
  ...['html', 'htm', 'shtml', 'xhtml', 'xht', 'mht', 'mhtml', 'hta'].map(
    (extension) => [extension, 'text/html'] as const,
  ),
  ...['svg', 'svgz'].map((extension) => [extension, 'image/svg+xml'] as const),
  ...['xml', 'xsl', 'xslt'].map((extension) => [extension, 'application/xml'] as const),
  ...['js', 'mjs', 'cjs', 'jse'].map((extension) => [extension, 'text/javascript'] as const),
  ...['bat', 'cmd', 'ps1', 'vbs', 'vbe', 'wsf', 'wsh', 'sh', 'command', 'reg', 'url', 'desktop', 'scf', 'lnk'].map(
    (extension) => [extension, unknownType] as const,
  ),
]);

/** The content type of a file: by its bytes, or by its name if that makes the file more dangerous. */
export function contentTypeOf({ name, declared, signature, text }: FileEvidence, allowed: readonly string[]): string {
  const byName = active.get(extensionOf(name));
  if (byName !== undefined) return byName;
  // Two letters are enough to look like a bitmap. A file that is text throughout is text, whatever its first bytes indicate.
  if (text === null) return isMarkup(signature) ? unknownType : (signature ?? unknownType);
  const markup = markupOf(text);
  if (markup !== null) return markup;
  if (signature !== null && textual.has(signature)) return signature;
  const kind = declared.toLowerCase();
  return inert.has(kind) && isAllowed(kind, allowed) ? kind : 'text/plain';
}

/** Whether one of the types or patterns (such as `image/*`) matches. */
export function isAllowed(type: string, allowed: readonly string[]): boolean {
  const [family = ''] = type.split('/', 1);
  return allowed.some((each) => [type, `${family}/*`].includes(each.toLowerCase()));
}

/** Markup that is not UTF-8 text. Its content cannot be checked, so it counts as an unknown type. */
function isMarkup(signature: string | null): boolean {
  return signature !== null && /\b(?:html|xml|svg)\b/.test(signature);
}

/** Text that begins like a tag is markup. It counts as HTML unless it declares another type. */
function markupOf(text: string): string | null {
  if (!/^<[a-z!?/]/i.test(text)) return null;
  const root = text.replace(/^(?:<\?[^>]*\?>|<!--[^]*?-->|<!doctype[^>]*>|\s)+/i, '');
  if (/^<(?:[\w.-]+:)?svg\b/i.test(root) || /^[^]*?<!doctype\s+svg\b/i.test(text)) return 'image/svg+xml';
  if (/^<(?:[\w.-]+:)?html\b/i.test(root) || !/^<\?xml\b/i.test(text)) return 'text/html';
  return 'application/xml';
}
