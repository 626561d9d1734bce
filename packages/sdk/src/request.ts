import { unknownError } from './errors.ts';
import type { TransportRequest } from './transport.ts';

type Scalar = string | number | boolean | null | undefined;
export type Value = Scalar | readonly Scalar[];
type Values = Readonly<Record<string, Value>>;

/** A request with a JSON body, or without one. */
export interface JsonRequest extends Omit<TransportRequest, 'headers' | 'body' | 'sendWith'> {
  readonly body?: unknown;
  /** The ETag of the version to change. */
  readonly ifMatch?: string | null | undefined;
  readonly idempotencyKey?: string | undefined;
}

export function jsonRequest({ body, ifMatch, idempotencyKey, ...others }: JsonRequest): TransportRequest {
  const content = body === undefined ? undefined : JSON.stringify(body);
  return {
    ...others,
    headers: {
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...(ifMatch === undefined || ifMatch === null ? {} : { 'if-match': ifMatch }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    ...(content === undefined ? {} : { body: () => content }),
  };
}

/** The JSON of an answer; `null` if it has no body. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  const type = response.headers.get('content-type') ?? 'no content type';
  if (!/^application\/json\b/.test(type))
    throw unknownError(response, `The answer is ${type} instead of JSON. Check that the URL is that of Usher.`);
  return JSON.parse(text) as unknown;
}

/** Puts each value into its place: `queueId` or `queue_id` replaces `{queue_id}`, the others become the query. */
export function placed(template: string, values: Values): { readonly path: string; readonly search: string } {
  const query = new Map(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = query.get(name);
    query.delete(name);
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`${camelCase(name)} is missing: it is part of the path ${template}.`);
    return encodeURIComponent(value);
  });
  return { path, search: searchOf(query) };
}

/** Writes lists as `a[]=1&a[]=2` and leaves out unset values. */
function searchOf(query: ReadonlyMap<string, Value>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of query) {
    if (Array.isArray(value)) for (const each of value) parameters.append(`${name}[]`, String(each));
    else if (value !== undefined && value !== null) parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
