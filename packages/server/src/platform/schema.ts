import { maxDescriptionLength, maxListLength, maxNameLength } from '@usher/contract/limits';
import { media, type Medium } from '@usher/contract/media';
import Type, { type TSchema } from 'typebox';
import type { Violation } from './errors.ts';
import type { Id } from './ids.ts';

/**
 * The vocabulary of the routes' schemas. One TypeBox schema is the validation, the type, the serialisation and the
 * OpenAPI of what it describes. A `title` makes it a named component there.
 */

/** An id: a UUID, accepted in any case and converted to lower case. */
export function uuid<Kind extends string>() {
  return Type.Unsafe<Id<Kind>>({ type: 'string', format: 'uuid', lowercase: true });
}

export const timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' });

export const name = Type.String({ minLength: 1, maxLength: maxNameLength });
export const description = Type.String({ maxLength: maxDescriptionLength });

export const mediumList = Type.Unsafe<Medium[]>({
  type: 'array',
  items: { type: 'string', enum: media },
  uniqueItems: true,
  maxItems: media.length,
});

export function oneOf<T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: values });
}

/** `schema` or null. Written as a list of types, so that one violation says "must be string or null" instead of two. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type?: unknown; enum?: unknown };
  if (typeof type !== 'string') throw new Error('nullable takes a schema with a plain type');
  const allowed = Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {};
  return Type.Unsafe<Type.Static<T> | null>({ ...rest, type: [type, 'null'], ...allowed });
}

/** `schema`, where null counts as a field left out: validation removes the null. */
export function nullAsAbsent<T extends TSchema>(schema: T) {
  return Type.Unsafe<Type.Static<T>>({ ...nullable(schema), absentIfNull: true });
}

/** D7.6: a list has at most 1,000 elements unless `maxItems` says otherwise. */
export function list<T extends TSchema>(
  items: T,
  options: { minItems?: number; maxItems?: number; uniqueItems?: boolean } = {},
) {
  return Type.Array(items, { maxItems: maxListLength, ...options });
}

/** A request body, which refuses unknown fields. */
export function body<T extends Type.TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: false });
}

/**
 * The body of a PATCH. The named read-only fields may be sent back and are ignored.
 */
export function update<T extends Type.TProperties>(properties: T, readOnly: readonly string[]) {
  return Type.Unsafe<Partial<Type.Static<Type.TObject<T>>>>(
    Type.Object(
      { ...Type.Partial(Type.Object(properties)).properties, ...ignored(readOnly) },
      { additionalProperties: false },
    ),
  );
}

/**
 * D7.2: the body of a PUT. Optional fields may be left out; the named read-only fields may be sent back and are ignored.
 */
export function put<T extends Type.TProperties>(properties: T, readOnly: readonly string[]) {
  return Type.Unsafe<Type.Static<Type.TObject<T>>>(
    Type.Object({ ...properties, ...ignored(readOnly) }, { additionalProperties: false }),
  );
}

function ignored(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unsafe<never>({ readOnly: true }))]));
}

/** `schema` and rules that no schema can express. The rules receive unvalidated input; their violations are reported with the others. */
export function checked<T extends TSchema>(schema: T, rules: (value: unknown) => readonly Violation[]): T {
  return { ...schema, check: rules };
}

/**
 * `schema`, with the part of its rules that JSON Schema can express. Only the documents of the API have these keywords: in validation
 * the rules report the same violations, in better words.
 */
export function documented<T extends TSchema>(schema: T, keywords: object): T {
  return { ...schema, documented: keywords };
}

/** A response object, which is a named component in openapi.json. */
export function output<T extends Type.TProperties>(title: string, properties: T) {
  return Type.Object(properties, { title });
}
