import { parse as parseArray } from 'postgres-array';
import { lastingBytes } from '../../lasting-bytes.ts';

/**
 * How values become parameters, and how columns become values. Both go by the type of PostgreSQL: the server says which type each parameter
 * and each column has, after the statement was prepared. All values are text on the wire, except bytes as parameters.
 *
 *   bool          boolean
 *   int2, int4, oid, float4, float8   number
 *   int8, numeric and all others      string, which loses no digits
 *   json, jsonb   any value of JSON
 *   date, timestamp, timestamptz      Date
 *   bytea         Buffer
 *   arrays        arrays of these
 */

/** What a parameter can be. An object is for a parameter of type json. */
export type Value =
  | null
  | undefined
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | JsonParameter
  | readonly Value[]
  | { readonly [name: string]: unknown };

/** What JSON can say. `undefined` fields are left out. */
export type JsonValue =
  | null
  | string
  | number
  | boolean
  | Date
  | readonly JsonValue[]
  | { toJSON(): unknown }
  | { readonly [name: string]: JsonValue | undefined };

/** A parameter of type jsonb, whatever type its place in the statement suggests. */
export class JsonParameter {
  readonly value: JsonValue;

  constructor(value: JsonValue) {
    this.value = value;
  }
}

const oid = { bool: 16, bytea: 17, int8: 20, json: 114, date: 1082, timestamp: 1114, timestamptz: 1184, jsonb: 3802 };

/** The types of elements by the types of arrays that PostgreSQL has built in. */
const elementOf = new Map([
  [1000, oid.bool],
  [1001, oid.bytea],
  [1016, oid.int8],
  [199, oid.json],
  [1182, oid.date],
  [1115, oid.timestamp],
  [1185, oid.timestamptz],
  [3807, oid.jsonb],
  [1002, 18], // "char"
  [1003, 19], // name
  [1005, 21], // int2
  [1007, 23], // int4
  [1009, 25], // text
  [1028, 26], // oid
  [1010, 27], // tid
  [1011, 28], // xid
  [1012, 29], // cid
  [143, 142], // xml
  [1021, 700], // float4
  [1022, 701], // float8
  [651, 650], // cidr
  [1041, 869], // inet
  [1034, 1033], // aclitem
  [1014, 1042], // bpchar
  [1015, 1043], // varchar
  [1183, 1083], // time
  [1187, 1186], // interval
  [1270, 1266], // timetz
  [1561, 1560], // bit
  [1231, 1700], // numeric
  [2210, 2205], // regclass
  [2211, 2206], // regtype
  [2951, 2950], // uuid
  [3221, 3220], // pg_lsn
  [3905, 3904], // int4range
  [3907, 3906], // numrange
  [3909, 3908], // tsrange
  [3911, 3910], // tstzrange
  [3913, 3912], // daterange
  [3927, 3926], // int8range
  [4073, 4072], // jsonpath
  [4090, 4089], // regnamespace
  [5039, 5038], // pg_snapshot
  [271, 5069], // xid8
]);

/**
 * The type that a value has of itself, for its parameter. 0 leaves it to the server, which goes by the place of the parameter in the statement:
 * a string may be a text, a uuid or a number there.
 */
export function typeOf(value: Value): number {
  if (typeof value === 'boolean') return oid.bool;
  if (typeof value === 'bigint') return oid.int8;
  if (value instanceof Date) return oid.timestamptz;
  if (value instanceof Uint8Array) return oid.bytea;
  if (value instanceof JsonParameter) return oid.jsonb;
  return 0;
}

/** The parameter for a value, `null` for NULL. Throws if the value cannot be of this type. */
export function serialize(value: Value, type: number): string | Buffer | null {
  const plain = value instanceof JsonParameter ? value.value : value;
  if (plain === null || plain === undefined) return null;
  const element = elementOf.get(type);
  if (element !== undefined) return Array.isArray(plain) ? arrayLiteral(plain, element) : textOf(plain, element);
  if (type === oid.bytea) return bytesOf(plain);
  return textOf(plain, type);
}

function textOf(value: unknown, type: number): string {
  switch (type) {
    case oid.bool:
      return String(value);
    case oid.bytea:
      return `\\x${bytesOf(value).toString('hex')}`;
    case oid.json:
    case oid.jsonb:
      return JSON.stringify(value);
    case oid.date:
    case oid.timestamp:
    case oid.timestamptz:
      return (value instanceof Date ? value : new Date(String(value))).toISOString();
    default:
      return String(value);
  }
}

function bytesOf(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return Buffer.from(String(value));
}

/** PostgreSQL's notation of an array: `{"a","b",NULL,{…}}`. */
function arrayLiteral(values: readonly unknown[], element: number): string {
  const items = values.map((value) => {
    if (value === null || value === undefined) return 'NULL';
    if (Array.isArray(value) && element !== oid.json && element !== oid.jsonb) return arrayLiteral(value, element);
    return `"${textOf(value, element).replaceAll(/["\\]/g, '\\$&')}"`;
  });
  return `{${items.join(',')}}`;
}

type Parser = (text: string) => unknown;

const parsers = new Map<number, Parser>([
  [oid.bool, (text) => text === 't'],
  [oid.bytea, (text) => lastingBytes(text.slice(2), 'hex')],
  [oid.json, (text) => JSON.parse(text) as unknown],
  [oid.jsonb, (text) => JSON.parse(text) as unknown],
  [oid.date, instantFrom],
  [oid.timestamp, instantFrom],
  [oid.timestamptz, instantFrom],
  ...[21, 23, 26, 700, 701].map((number): [number, Parser] => [number, Number]),
]);

for (const [array, element] of elementOf) {
  const parseElement = parsers.get(element) ?? String;
  parsers.set(array, (text) => parseArray(text, parseElement));
}

/** The parser of a type, `null` if its values stay text. */
export function parserOf(type: number): Parser | null {
  return parsers.get(type) ?? null;
}

/**
 * PostgreSQL's format, `2027-01-31 09:00:00+00`, is not ISO 8601: JavaScript reads years before 100 as others (1 as 2001), or not
 * at all. The time is in UTC, by our session settings.
 */
function instantFrom(text: string): Date {
  if (!text.startsWith('00')) return new Date(text);
  return new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
}
