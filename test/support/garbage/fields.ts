import type { Json } from '../server.ts';

/** What the changes of a request are made from. */
export interface Vocabulary {
  /** The schemas of openapi.json, by name. */
  readonly schemas: Readonly<Record<string, Json>>;
  /** Ids of objects of another account, of another site and of another visitor. */
  readonly foreignIds: readonly string[];
}

/** A field that a body may have, with its schema. */
interface Field {
  readonly path: readonly string[];
  readonly schema: Json;
}

const maxDepth = 5;

/** Follows `$ref`. */
export function resolved({ schemas }: Vocabulary, schema: Json): Json {
  return schema?.$ref === undefined
    ? schema
    : resolved({ schemas, foreignIds: [] }, schemas[schema.$ref.split('/').at(-1)]);
}

/** Every field of a schema, those of alternatives included. An element of a list has the name 0. */
export function fieldsOf(vocabulary: Vocabulary, schema: Json, path: readonly string[] = []): Field[] {
  const found = resolved(vocabulary, schema);
  if (found === undefined || path.length > maxDepth) return [];
  const alternatives: Json[] = [...(found.anyOf ?? []), ...(found.oneOf ?? []), ...(found.allOf ?? [])];
  const properties = Object.entries<Json>(found.properties ?? {}).map(([name, field]) => ({ name, field }));
  const elements = found.items === undefined ? [] : [{ name: '0', field: found.items }];
  const own = [...properties, ...elements].flatMap(({ name, field }) => [
    { path: [...path, name], schema: resolved(vocabulary, field) },
    ...fieldsOf(vocabulary, field, [...path, name]),
  ]);
  return [...own, ...alternatives.flatMap((each) => fieldsOf(vocabulary, each, path))];
}

export function pointerOf(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The value at a path; `undefined` if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? Reflect.get(inner, name) : undefined),
    value,
  );
}

/** A copy with another value at the path. Objects and lists on the way are created. */
export function withValueAt(value: unknown, [name, ...rest]: readonly string[], to: unknown): unknown {
  if (name === undefined) return to;
  const holder = isObject(value) ? value : name === '0' ? [] : {};
  const inner = withValueAt(Reflect.get(holder, name), rest, to);
  return Array.isArray(holder) && name === '0' ? [inner, ...holder.slice(1)] : { ...holder, [name]: inner };
}

export function withoutValueAt(value: unknown, path: readonly string[]): unknown {
  const last = path.at(-1) ?? '';
  const holder = valueAt(value, path.slice(0, -1));
  if (!isObject(holder)) return value;
  if (Array.isArray(holder)) return withValueAt(value, path.slice(0, -1), holder.slice(1));
  const { [last]: _removed, ...others } = holder as Record<string, unknown>;
  return withValueAt(value, path.slice(0, -1), others);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
