import { bytesOf } from './bytes.ts';

/** D8.4: limits of custom headers of a webhook. `bytes` counts names and values together. */
export const headerLimits = { count: 50, bytes: 8_192 } as const;

/** Name and value. The schema reports values that are not strings. */
type Header = readonly [name: string, value: unknown];

/** Usher sets these headers: they frame the request or carry its signature. */
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
/** Characters that HTTP allows in a value. CR, LF and NUL are not allowed. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * A JSON type, possibly with a suffix such as `vnd.example+json`. Events are JSON in UTF-8, so another type or charset would be wrong.
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

/** Faults of one header among all headers of the webhook. */
export function headerFaults([name, value]: Header, all: readonly Header[]): string[] {
  return [nameFault(name), valueFault(value), typeFault([name, value], all)].filter((fault) => fault !== null);
}

function nameFault(name: string): string | null {
  if (!token.test(name)) return 'is not a valid header name';
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

/** The JSON pointer of a header, for violations. */
export function headerPointer(name: string): string {
  return `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The fault of the total size. The schema or the form limits the count. */
export function headerSizeFault(all: readonly Header[]): string | null {
  const bytes = all.reduce(
    (sum, [name, value]) => sum + bytesOf(name) + (typeof value === 'string' ? bytesOf(value) : 0),
    0,
  );
  return bytes > headerLimits.bytes ? `must not exceed ${headerLimits.bytes} bytes` : null;
}
