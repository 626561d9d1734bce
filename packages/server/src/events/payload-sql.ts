import type Type from 'typebox';
import type { catalogue, EventType } from './catalogue.ts';
import { schemaOf } from './make-event.ts';

/**
 * JSON that a statement builds, because only the statement knows the values: the schema gives the fields, their order and
 * their form, the caller gives SQL for each value. The text is compact, unlike that of json_build_object (`{"id" : 1}`): an
 * event is stored, signed and sent as this text.
 */

/** SQL of a value. It becomes part of the statement as it is: never put anything into it that a caller has sent. */
type SqlText = string;

/** SQL for each field. Literals come from the schema. What is neither an object nor a plain value is given as JSON. */
export type SqlValues<Schema> =
  Schema extends Type.TObject<infer Fields>
    ? { readonly [Name in keyof Fields as Fields[Name] extends Type.TLiteral ? never : Name]: SqlValues<Fields[Name]> }
    : SqlText;

interface NodeSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, NodeSchema>>;
  readonly anyOf?: readonly NodeSchema[];
}

/** Text of the result is constant, or a value. */
type Part = { readonly constant: string } | { readonly value: SqlText };

/** The payload of an event, of type `json`. */
export function payloadSql<T extends EventType>(
  type: T,
  { id, at }: { readonly id: SqlText; readonly at: SqlText },
  fields: SqlValues<Type.TObject<(typeof catalogue)[T]['fields']>>,
): SqlText {
  return concatenate(partsOf(schemaOf(type) as NodeSchema, { event_id: id, dispatched_at: at, ...fields }));
}

/** An object of the schema, of type `json`. */
export function objectSql<Fields extends Type.TProperties>(
  schema: Type.TObject<Fields>,
  values: SqlValues<Type.TObject<Fields>>,
): SqlText {
  return concatenate(partsOf(schema, values));
}

function partsOf(schema: NodeSchema, given: unknown): readonly Part[] {
  if ('const' in schema) return [{ constant: JSON.stringify(schema.const) }];
  if (schema.properties === undefined) return [{ value: valueSql(schema, given as SqlText) }];
  const values = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).filter((name) => !(name in (schema.properties ?? {})));
  if (unknown.length > 0) throw new Error(`there are no fields ${unknown.join(', ')}`);
  const fields = Object.entries(schema.properties).map(([name, field], index) => [
    { constant: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:` },
    ...partsOf(field, values[name]),
  ]);
  return [...fields.flat(), { constant: '}' }];
}

/** JSON of the value, as text or of a type that becomes text. Without a value where there must be one, the payload is null, which the log refuses. */
function valueSql(schema: NodeSchema, value: SqlText): SqlText {
  const json = schema.format === 'date-time' ? `to_json(${instantSql(value)})` : `to_json(${value})`;
  return mayBeNull(schema) ? `coalesce(${json}::text, 'null')` : json;
}

function mayBeNull({ type, anyOf = [] }: NodeSchema): boolean {
  return [type ?? []].flat().includes('null') || anyOf.some(mayBeNull);
}

/** As `Date.toISOString` writes it. */
function instantSql(value: SqlText): SqlText {
  return `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Constants that follow each other are one: each `||` makes a copy. */
function concatenate(parts: readonly Part[]): SqlText {
  const operands: SqlText[] = [];
  let constant = '';
  for (const part of parts) {
    if ('constant' in part) constant += part.constant;
    else {
      operands.push(quoted(constant), part.value);
      constant = '';
    }
  }
  return `(${[...operands, quoted(constant)].join(' || ')})::json`;
}

function quoted(text: string): SqlText {
  return `'${text.replaceAll("'", "''")}'`;
}
