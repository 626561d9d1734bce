import { maxDescriptionLength, maxListLength, maxNameLength } from '@usher/contract/limits';
import { media, type Medium } from '@usher/contract/media';
import Type, { type TSchema } from 'typebox';
import type { Violation } from './errors.ts';
import type { Id } from './ids.ts';

/**
 * The vocabulary of the routes' schemas. One TypeBox schema is the validation, the type, the serialisation and the
 * OpenAPI of what it describes. A `title` makes it a named component there.
 */

/** An id: a UUID in any case on input, lower case from there on. */
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

/** `schema`, or null. Written as a list of types, so that a violation reads "must be string or null" and not as two. */
export function nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type?: unknown; enum?: unknown };
  if (typeof type !== 'string') throw new Error('nullable takes a schema with a plain type');
  const allowed = Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {};
  return Type.Unsafe<Type.Static<T> | null>({ ...rest, type: [type, 'null'], ...allowed });
}

/** `schema`, where null means that the field was left out: nobody behind the validation sees the null. */
export function nullAsAbsent<T extends TSchema>(schema: T) {
  return Type.Unsafe<Type.Static<T>>({ ...nullable(schema), absentIfNull: true });
}

/** At most 1,000 elements unless said otherwise, as every list. */
export function list<T extends TSchema>(
  items: T,
  options: { minItems?: number; maxItems?: number; uniqueItems?: boolean } = {},
) {
  return Type.Array(items, { maxItems: maxListLength, ...options });
}

/** A body: unknown fields are refused. */
export function body<T extends Type.TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: false });
}

/**
 * The body of an update that may carry what a read gave: the named read-only fields are accepted and ignored.
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
 * The body of a PUT: required fields as ever, optional ones may be left out, and the named read-only fields of a read
 * are accepted and ignored.
 */
export function put<T extends Type.TProperties>(properties: T, readOnly: readonly string[]) {
  return Type.Unsafe<Type.Static<Type.TObject<T>>>(
    Type.Object({ ...properties, ...ignored(readOnly) }, { additionalProperties: false }),
  );
}

function ignored(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unsafe<never>({ readOnly: true }))]));
}

/** `schema`, and rules that no schema can say. They are told with its other violations, and must bear any input. */
export function checked<T extends TSchema>(schema: T, rules: (value: unknown) => readonly Violation[]): T {
  return { ...schema, check: rules };
}

/** An output object, a named component of the OpenAPI document. */
export function output<T extends Type.TProperties>(title: string, properties: T) {
  return Type.Object(properties, { title });
}
