import { bytesOf } from './bytes.ts';

/** Headers that an integrator may add to the requests of a webhook (D8.4). Bytes are those of names and values together. */
export const headerLimits = { count: 50, bytes: 8_192 } as const;

/** Name and value. What is not a string is for the schema to report. */
type Header = readonly [name: string, value: unknown];

/** Usher sets these: they frame the request, or prove who sent it. */
const reserved = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'keep-alive',
  'expect',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What HTTP can carry in a value; CR, LF and NUL above all are not in it. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * A JSON type, with or without a suffix such as `vnd.example+json`: events are JSON, so any other type would be untrue. The text
 * is sent as UTF-8, so no other charset may be named.
 */
const jsonType = /^(?:application|text)\/(?:[\w.-]+\+)?json$/i;
const utf8 = /^charset=(?:utf-8|"utf-8")$/i;

function isJsonType(value: string): boolean {
  const [type = '', ...parameters] = value.split(';').map((part) => part.trim());
  return jsonType.test(type) && parameters.every((parameter) => !/^charset=/i.test(parameter) || utf8.test(parameter));
}

function isContentType(name: string): boolean {
  return name.toLowerCase() === 'content-type';
}

/** What is wrong with one header among all of them. */
export function headerFaults([name, value]: Header, all: readonly Header[]): string[] {
  return [nameFault(name), valueFault(value), typeFault([name, value], all)].filter((fault) => fault !== null);
}

function nameFault(name: string): string | null {
  if (!token.test(name)) return 'is not a header name';
  const lower = name.toLowerCase();
  return reserved.has(lower) || lower.startsWith('proxy-') ? 'is a header that cannot be set' : null;
}

function valueFault(value: unknown): string | null {
  if (typeof value !== 'string' || sendable.test(value)) return null;
  return 'must not contain line breaks, control characters or characters beyond Latin-1';
}

function typeFault([name, value]: Header, all: readonly Header[]): string | null {
  if (!isContentType(name) || typeof value !== 'string') return null;
  if (all.filter(([other]) => isContentType(other)).length > 1) return 'is given twice';
  return isJsonType(value) ? null : 'must be a JSON type such as application/json, in UTF-8: events are sent as JSON';
}

/** How violations point at a header, as a JSON pointer. */
export function headerPointer(name: string): string {
  return `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What is wrong with their size together. How many there may be is for the schema, or the form, to say. */
export function headerSizeFault(all: readonly Header[]): string | null {
  const bytes = all.reduce(
    (sum, [name, value]) => sum + bytesOf(name) + (typeof value === 'string' ? bytesOf(value) : 0),
    0,
  );
  return bytes > headerLimits.bytes ? `must not exceed ${headerLimits.bytes} bytes` : null;
}
