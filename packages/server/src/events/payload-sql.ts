import type Type from 'typebox';
import type { catalogue, EventType } from './catalogue.ts';
import { schemaOf } from './make-event.ts';

/**
 * Builds SQL for a JSON payload whose values only the statement knows: the schema gives the fields, their order and their
 * format, the caller gives SQL for each value. The JSON text is compact, unlike that of json_build_object (`{"id" : 1}`),
 * because an event is stored, signed and sent as this text.
 */

/** SQL for a value. It is put into the statement unescaped: it must never contain anything from a request. */
type SqlText = string;

/** SQL for each field. Literals come from the schema. A value that is neither an object nor a scalar is given as JSON. */
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

/** The JSON text is a sequence of fragments. */
type Fragment = { readonly constant: string } | { readonly value: SqlText };

/** The payload of an event, of type `json`. */
export function payloadSql<T extends EventType>(
  type: T,
  { id, at }: { readonly id: SqlText; readonly at: SqlText },
  fields: SqlValues<Type.TObject<(typeof catalogue)[T]['fields']>>,
): SqlText {
  return concatenate(fragmentsOf(schemaOf(type) as NodeSchema, { event_id: id, dispatched_at: at, ...fields }));
}

/** An object of the schema, of type `json`. */
export function objectSql<Fields extends Type.TProperties>(
  schema: Type.TObject<Fields>,
  values: SqlValues<Type.TObject<Fields>>,
): SqlText {
  return concatenate(fragmentsOf(schema, values));
}

function fragmentsOf(schema: NodeSchema, given: unknown): readonly Fragment[] {
  if ('const' in schema) return [{ constant: JSON.stringify(schema.const) }];
  if (schema.properties === undefined) return [{ value: valueSql(schema, given as SqlText) }];
  const values = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).filter((name) => !(name in (schema.properties ?? {})));
  if (unknown.length > 0) throw new Error(`unknown fields: ${unknown.join(', ')}`);
  const fields = Object.entries(schema.properties).map(([name, field], index) => [
    { constant: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:` },
    ...fragmentsOf(field, values[name]),
  ]);
  return [...fields.flat(), { constant: '}' }];
}

/** JSON of the value. A null that the schema does not allow makes the whole payload null, which the log's constraint refuses. */
function valueSql(schema: NodeSchema, value: SqlText): SqlText {
  const json = schema.format === 'date-time' ? `to_json(${instantSql(value)})` : `to_json(${value})`;
  return mayBeNull(schema) ? `coalesce(${json}::text, 'null')` : json;
}

function mayBeNull({ type, anyOf = [] }: NodeSchema): boolean {
  return [type ?? []].flat().includes('null') || anyOf.some(mayBeNull);
}

/** The same format as `Date.toISOString`. */
function instantSql(value: SqlText): SqlText {
  return `to_char(${value} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** Adjacent constants are merged, because each `||` copies the text. */
function concatenate(fragments: readonly Fragment[]): SqlText {
  const operands: SqlText[] = [];
  let constant = '';
  for (const fragment of fragments) {
    if ('constant' in fragment) constant += fragment.constant;
    else {
      operands.push(quoted(constant), fragment.value);
      constant = '';
    }
  }
  return `(${[...operands, quoted(constant)].join(' || ')})::json`;
}

function quoted(text: string): SqlText {
  return `'${text.replaceAll("'", "''")}'`;
}
