import type { Violation } from '../../../platform/errors.ts';

/** Headers an integrator may add to the requests of a webhook (D8.4). Bytes are those of names and values together. */
export const headerLimits = { count: 50, bytes: 8_192 } as const;

/** Ours to set: they frame the request, or prove that it is from us. */
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
 * A JSON type, with or without a suffix such as `vnd.example+json`; the text is sent as UTF-8, so no other charset may be named.
 * The document's events are JSON, so any other type would be untrue.
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

/** With attributes relative to the headers. What is not an object of strings is the schema's to report. */
export function headerViolations(headers: unknown): Violation[] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return [];
  const entries = Object.entries(headers as Record<string, unknown>);
  const bytes = entries.reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(value), 0);
  return [
    ...(bytes > headerLimits.bytes ? [{ attribute: '', detail: `must not exceed ${headerLimits.bytes} bytes` }] : []),
    ...entries.flatMap(([name, value]) =>
      [nameFault(name), valueFault(value), typeFault(name, value, entries)].flatMap((fault) =>
        fault === null ? [] : [{ attribute: `/${escapePointer(name)}`, detail: fault }],
      ),
    ),
  ];
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

function typeFault(name: string, value: unknown, entries: readonly (readonly [string, unknown])[]): string | null {
  if (!isContentType(name) || typeof value !== 'string') return null;
  if (entries.filter(([other]) => isContentType(other)).length > 1) return 'is given twice';
  return isJsonType(value) ? null : 'must be a JSON type such as application/json, in UTF-8: events are sent as JSON';
}

function bytesOf(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}

function escapePointer(field: string): string {
  return field.replaceAll('~', '~0').replaceAll('/', '~1');
}
