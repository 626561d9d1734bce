import { nearMissesOf } from '../api/near-misses.ts';
import type { Json } from '../server.ts';
import { RawJson } from './draft.ts';

/** A value with the name by which a report calls it. Large values are made when they are needed. */
export type Named<Value> = readonly [name: string, make: () => Value];

/** The size of the largest text that still fits into a body. */
const nearlyMegabyte = 1_000_000;
/** Levels of nesting that exhaust the stack of a parser or validator that is recursive. */
const levels = 10_000;

export const texts: readonly Named<string>[] = [
  ['empty text', () => ''],
  ['a space', () => ' '],
  ['NUL', () => 'a\0b'],
  ['an unpaired surrogate', () => 'a\ud800'],
  ['surrogates in the wrong order', () => '\udc00\ud800'],
  ['text from right to left', () => '\u202e\u2066\u05d0\u05d1\u200f'],
  ['2,000 combining characters', () => `e${'\u0301'.repeat(2_000)}`],
  ['one long ligature', () => '\ufdfd'],
  ['emoji of many code points', () => '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'.repeat(40)],
  ['256 characters outside of the BMP', () => '\u{1d4b3}'.repeat(256)],
  ['non-characters', () => '\ufffe\uffff\u{10ffff}'],
  ['line breaks', () => 'a\r\nset-cookie: a=b\r\n\u2028\u2029'],
  ['control characters', () => '\u0001\u001b[31m\u007f\u0085'],
  ['__proto__', () => '__proto__'],
  ['constructor', () => 'constructor'],
  ['a path', () => '../../../../etc/passwd'],
  ['SQL', () => "'; DROP TABLE sites; --"],
  ['jsonpath', () => '$.**?(@ like_regex ".*")'],
  ['LIKE', () => '%_\\'],
  ['formats', () => '%s%n%00%zz'],
  ['templates', () => '${jndi:ldap://127.0.0.1/a}{{7*7}}<%= 7 %>'],
  ['markup', () => '<script>alert(1)</script>&amp;'],
  ['a list of ids', () => `${crypto.randomUUID()},${crypto.randomUUID()}`],
  ['an unknown id', () => crypto.randomUUID()],
  ['text: null', () => 'null'],
  ['text: true', () => 'true'],
  ['text: 1', () => '1'],
  ['text: -1', () => '-1'],
  ['text: 1e308', () => '1e308'],
  ['text: 1e400', () => '1e400'],
  ['text: 0x10', () => '0x10'],
  ['text: NaN', () => 'NaN'],
  ['400 digits', () => '9'.repeat(400)],
  ['256 characters', () => 'a'.repeat(256)],
  ['5,000 characters', () => 'a'.repeat(5_000)],
];

const longTexts: readonly Named<string>[] = [['nearly 1 MB of text', () => 'a'.repeat(nearlyMegabyte)]];

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const raw =
  (text: string): (() => RawJson) =>
  () =>
    new RawJson(text);

const jsonValues: readonly Named<unknown>[] = [
  ['null', () => null],
  ['true', () => true],
  ['false', () => false],
  ['0', () => 0],
  ['-0', raw('-0')],
  ['-1', () => -1],
  ['1', () => 1],
  ['0.1', () => 0.1],
  ['2^31', () => 2 ** 31],
  ['2^53 + 1', raw('9007199254740993')],
  ['1e308', raw('1e308')],
  ['-1e308', raw('-1e308')],
  ['1e400', raw('1e400')],
  ['1e-400', raw('1e-400')],
  ['400 digits as a number', raw('9'.repeat(400))],
  ['an empty object', () => ({})],
  ['an empty list', () => []],
  ['a list of null', () => [null]],
  ['a list in a list', () => [[[]]]],
  ['an object with __proto__', raw('{"__proto__":{"polluted":true}}')],
  ['an object with constructor', raw('{"constructor":{"prototype":{"polluted":true}}}')],
  ['an object with toString', raw('{"toString":1,"valueOf":null,"hasOwnProperty":[],"length":-1,"then":1}')],
  ['a name with NUL', raw('{"a\\u0000b":1}')],
  ['a name that is an unpaired surrogate', raw('{"\\ud800":1}')],
  ['an empty name', () => ({ '': '' })],
  ['a name twice', raw('{"a":1,"a":2,"a":{}}')],
  ['30 levels of lists', raw('['.repeat(30) + ']'.repeat(30))],
  [`${levels} levels of lists`, raw('['.repeat(levels) + ']'.repeat(levels))],
  [`${levels} levels of objects`, raw('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))],
  ['1,001 elements', raw(`[${numbers(1_001).join(',')}]`)],
  ['1,000 texts', raw(`[${numbers(1_000).map((number) => `"${number}"`).join(',')}]`)], // prettier-ignore
  ['20,001 members', raw(`{${numbers(20_001).map((number) => `"k${number}":1`).join(',')}}`)], // prettier-ignore
];

/** Values for a field, whatever its schema says. */
export const anyValues: readonly Named<unknown>[] = [...jsonValues, ...texts, ...longTexts];

/** Values that are close to what the schema of a field allows. */
export function valuesNear(schema: Json, valid: unknown): Named<unknown>[] {
  const { format, enum: allowed, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema ?? {};
  const made: Named<unknown>[] = [];
  const add = (name: string, value: unknown): void => void made.push([name, () => value]);
  if (typeof format === 'string')
    for (const text of nearMissesOf(format, typeof valid === 'string' ? valid : crypto.randomUUID()))
      add(`nearly a ${format}: ${JSON.stringify(text.slice(0, 40))}`, text);
  for (const each of (allowed ?? []) as unknown[]) {
    add(`allowed: ${String(each)}`, each);
    add(`in capitals: ${String(each)}`, String(each).toUpperCase());
    add(`with a space: ${String(each)}`, `${String(each)} `);
  }
  if (typeof minimum === 'number') for (const by of [-1, -0.5, 0]) add(`the minimum ${by}`, minimum + by);
  if (typeof maximum === 'number') for (const by of [0, 0.5, 1]) add(`the maximum +${by}`, maximum + by);
  if (typeof minLength === 'number' && minLength > 0) add('too short', 'a'.repeat(minLength - 1));
  if (typeof maxLength === 'number') {
    add('the longest text', '\u{1f600}'.repeat(maxLength));
    add('one character too many', 'a'.repeat(maxLength + 1));
  }
  if (Array.isArray(valid)) {
    const element: unknown = valid[0] ?? null;
    add('every element twice', [...valid, ...valid]);
    add('null among the elements', [...valid, null]);
    add('an element too deep', [valid]);
    if (typeof minItems === 'number' && minItems > 0) add('too few elements', Array(minItems - 1).fill(element));
    if (typeof maxItems === 'number') add('too many elements', Array(maxItems + 1).fill(element));
  }
  if (typeof valid === 'string') {
    add('the value in capitals', valid.toUpperCase());
    add('a space before the value', ` ${valid}`);
    add('the value and a line break', `${valid}\n`);
    add('the value in a list', [valid]);
    add('the value in an object', { value: valid });
  }
  if (typeof valid === 'number') add('the number as text', String(valid));
  return made;
}
