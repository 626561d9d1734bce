import { bodyBytes, jsonOf, RawJson, type Change, type Draft } from './draft.ts';
import { fieldsOf, pointerOf, valueAt, withoutValueAt, withValueAt, type Vocabulary } from './fields.ts';
import type { Json } from '../server.ts';
import { anyValues, valuesNear, type Named } from './values.ts';

/** Every change of each field of a JSON body, and of the body as a whole. */
export function bodyChanges(vocabulary: Vocabulary, schema: Json, valid: unknown): Change[] {
  const fields = fieldsOf(vocabulary, schema);
  const whole: Change[] = anyValues.map(([name, make]) => ({
    name: `the body is ${name}`,
    apply: (draft) => (isJson(draft) ? { ...draft, body: asJson(make()) } : draft),
  }));
  return [
    ...fields.flatMap(({ path, schema: own }) => fieldChanges(vocabulary, path, own, valueAt(valid, path))),
    ...whole,
    ...textChanges,
  ];
}

/** A text is a JSON value here, and not the bytes of the body. */
function asJson(value: unknown): unknown {
  return typeof value === 'string' ? new RawJson(JSON.stringify(value)) : value;
}

function isJson({ body }: Draft): boolean {
  return typeof body === 'object' && !Buffer.isBuffer(body);
}

function fieldChanges({ foreignIds }: Vocabulary, path: readonly string[], schema: Json, valid: unknown): Change[] {
  const field = pointerOf(path);
  const neighbour = [...path.slice(0, -1), 'unheard_of'];
  const capitals = [...path.slice(0, -1), (path.at(-1) ?? '').toUpperCase()];
  const change = (name: string, edit: (body: unknown) => unknown, named: string = field): Change => ({
    name: `${field}: ${name}`,
    field: named,
    apply: (draft) => (isJson(draft) ? { ...draft, body: edit(draft.body) } : draft),
  });
  const set = ([name, make]: Named<unknown>): Change => change(name, (body) => withValueAt(body, path, make()));
  const foreign = (schema?.format === 'uuid' ? foreignIds : []).map((id): Named<unknown> => [
    `the foreign id ${id}`,
    () => id,
  ]);
  return [
    ...[...anyValues, ...valuesNear(schema, valid), ...foreign].map(set),
    change('is missing', (body) => withoutValueAt(body, path)),
    change('is there twice, the second null', (body) => twice(body, path, 'null', 'after')),
    change('is there twice, the first null', (body) => twice(body, path, 'null', 'before')),
    change('is there twice, with __proto__ between', (body) => twice(body, path, '1,"__proto__":{"a":1}', 'before')),
    change('has an unknown neighbour', (body) => withValueAt(body, neighbour, 1), pointerOf(neighbour)),
    change(
      'has its name in capitals',
      (body) => withValueAt(withoutValueAt(body, path), capitals, valid ?? 1),
      pointerOf(path.length === 1 ? [] : path),
    ),
  ];
}

/** The object with the field in it twice, as JSON text. */
function twice(body: unknown, path: readonly string[], json: string, where: 'before' | 'after'): unknown {
  const holderPath = path.slice(0, -1);
  const holder = valueAt(body, holderPath);
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return body;
  const inner = jsonOf(holder).slice(1, -1);
  const extra = `${JSON.stringify(path.at(-1))}:${json}`;
  const members = (where === 'before' ? [extra, inner] : [inner, extra]).filter((text) => text !== '');
  return withValueAt(body, holderPath, new RawJson(`{${members.join(',')}}`));
}

/** Changes of the text of a body, whatever it contains. */
const textChanges: readonly Change[] = [
  editText('is empty', () => ''),
  editText('is a space', () => ' '),
  editText('begins with a BOM', (text) => `\ufeff${text}`),
  editText('is cut in the middle', (text) => text.slice(0, text.length / 2)),
  editText('lacks its last character', (text) => text.slice(0, -1)),
  editText('has a comma at the end', (text) => text.replace(/\}$/, ',}')),
  editText('is followed by another', (text) => `${text}${text}`),
  editText('is followed by NUL', (text) => `${text}\0`),
  editText('has a comment', (text) => `/* */${text}`),
  editText('has single quotes', (text) => text.replaceAll('"', "'")),
  editText('has a tab in a text', (text) => text.replace(/":"/, '":"\t')),
  editText('has an invalid escape', (text) => text.replace(/":"/, String.raw`":"\x`)),
  editText('has half of an escape', (text) => text.replace(/":"/, String.raw`":"\u00`)),
  editText('has NaN', (text) => text.replace(/^\{/, '{"a":NaN,')),
  editText('has a number with a leading zero', (text) => text.replace(/^\{/, '{"a":01,')),
  editText('is indented by a megabyte', (text) => `${' '.repeat(2 ** 20)}${text}`),
  editText('is indented by half a megabyte', (text) => `${' '.repeat(2 ** 19)}${text}`),
  editText('is more than a megabyte', (text) => text.replace(/^\{/, `{"a":"${'a'.repeat(2 ** 20)}",`)),
  editText('is a megabyte of three-byte characters', (text) =>
    text.replace(/^\{/, `{"a":"${'\u20ac'.repeat(349_000)}",`),
  ),
  editText('is a form', () => 'name=x&site_id=y'),
  editText('is XML', () => '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
  editText('is ten thousand brackets that stay open', () => '['.repeat(10_000)),
  editText('is 500,000 brackets that stay open', () => '['.repeat(500_000)),
  editText('is 500,000 objects that stay open', () => '{"":'.repeat(250_000)),
  editBytes('is not UTF-8', (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([0xff, 0xfe, 0x7d])])),
  editBytes('has an overlong NUL', () => Buffer.from([0x7b, 0x22, 0xc0, 0x80, 0x22, 0x3a, 0x31, 0x7d])),
  editBytes('has an encoded surrogate', () => Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])),
  editBytes('is UTF-16', (bytes) => Buffer.from(bytes.toString(), 'utf16le')),
  editBytes('is UTF-16 with a BOM', (bytes) => Buffer.from(`\ufeff${bytes.toString()}`, 'utf16le')),
  editBytes('is bytes', () => Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))),
];

function editText(name: string, edit: (text: string) => string): Change {
  return editBytes(name, (bytes) => Buffer.from(edit(bytes.toString())));
}

function editBytes(name: string, edit: (bytes: Buffer) => Buffer): Change {
  return {
    name: `the text of the body ${name}`,
    apply(draft) {
      const bytes = bodyBytes(draft.body);
      return bytes === null ? draft : { ...draft, body: edit(bytes) };
    },
  };
}
