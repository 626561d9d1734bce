/**
 * A request that is being made up. Changes turn a valid draft into garbage, one after the other, and `packed` turns the result into
 * bytes. A body is kept as a value, so that a change can reach each of its fields.
 */
export interface Draft {
  readonly method: string;
  readonly path: string;
  /** `name=value`, encoded as it is sent. */
  readonly query: readonly string[];
  readonly headers: readonly Header[];
  /** A JSON value that may contain `RawJson`, or bytes that are sent as they are; `undefined` is no body. */
  readonly body: unknown;
}

export type Header = readonly [name: string, value: string];

/** A request as it is sent. */
export interface PackedRequest {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  readonly headers: readonly Header[];
  readonly body: Buffer | null;
}

/** A named step from one draft to the next. It returns the draft itself if it does not apply. */
export interface Change {
  readonly name: string;
  /** The field or parameter that is changed, as a JSON pointer. */
  readonly field?: string;
  apply(draft: Draft): Draft;
}

/** JSON text in the place of a value: numbers that no double has, keys that occur twice, ten thousand levels. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON text of a value that may contain `RawJson`. */
export function jsonOf(value: unknown): string {
  const raw: string[] = [];
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (!(member instanceof RawJson)) return member;
    raw.push(member.text);
    return `raw json ${raw.length - 1}`;
  });
  if (raw.length === 0) return text;
  return text.replaceAll(/"raw json (\d+)"/g, (_match, index: string) => raw[Number(index)] ?? '');
}

/** The bytes of a body. */
export function bodyBytes(body: unknown): Buffer | null {
  if (body === undefined) return null;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : jsonOf(body));
}

export function packed({ method, path, query, headers, body }: Draft): PackedRequest {
  const bytes = bodyBytes(body);
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const type: readonly Header[] = bytes === null || isTyped ? [] : [['content-type', 'application/json']];
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return { method, target, headers: [...headers, ...type], body: bytes };
}

/** Replaces all headers of that name. */
export function withHeader(draft: Draft, name: string, ...values: readonly string[]): Draft {
  const others = draft.headers.filter(([existing]) => existing.toLowerCase() !== name);
  return { ...draft, headers: [...others, ...values.map((value): Header => [name, value])] };
}

/** Text for a URL. An unpaired surrogate has no encoding and is sent as the three bytes that it would have. */
export function encodeText(text: string): string {
  return text.replaceAll(/\p{Surrogate}|\P{Surrogate}+/gu, (part) =>
    part.isWellFormed() ? encodeURIComponent(part) : '%ED%A0%80',
  );
}
