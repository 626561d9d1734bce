import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import type { JsonValue, Sql, Value } from './database.ts';
import type { Violation } from '../errors.ts';
import { checked, nullable } from '../schema.ts';

/**
 * The fields of a resource, each declared once in a table, by one of the functions below. `fieldsOf` derives the rest: the
 * schemas of requests and responses, the type and columns of the row, what a request changes, and what the audit log shows.
 */
interface Field<
  Kind extends string = string,
  In extends TSchema | null = TSchema | null,
  Out extends TSchema = TSchema,
> {
  readonly kind: Kind;
  /** The schema in requests; `null` if requests do not have the field. */
  readonly input: In;
  /** The schema in responses. Its static type is also the type of the value in the row. */
  readonly output: Out;
  readonly default?: unknown;
  readonly stored: Stored | 'nowhere';
  readonly audit: Audit;
}

/** `json` means a column of the type json or jsonb. */
type Stored = 'value' | 'json';

/** `hidden`: the audit log says that the field changed, but not its values. `omitted`: it does not mention the field. */
type Audit = 'shown' | 'hidden' | 'omitted';

interface Options<Out extends TSchema> {
  /** The schema in responses, if it differs from the one in requests. */
  readonly output?: Out;
  readonly stored?: Stored;
  readonly audit?: Audit;
}

/** Usher sets the field when it writes the row. */
export function assigned<T extends TSchema>(output: T, audit: Audit = 'shown'): Field<'assigned', null, T> {
  return { kind: 'assigned', input: null, output, stored: 'value', audit };
}

/** Like `assigned`, but responses do not show the field. */
export function internal<Value>(): Field<'internal', null, TUnsafe<Value>> {
  return { kind: 'internal', input: null, output: Type.Unsafe<Value>({}), stored: 'value', audit: 'omitted' };
}

/**
 * The field has no column of its own, or its column needs conversion: the resource computes it for responses. With an `input`,
 * requests may have the field, and the resource handles it.
 */
export function computed<T extends TSchema, In extends TSchema | null = null>(
  output: T,
  { input = null as In, audit = 'omitted' }: { readonly input?: In; readonly audit?: Audit } = {},
): Field<'computed', In, T> {
  return { kind: 'computed', input, output, stored: 'nowhere', audit };
}

/** The request that creates the resource sets the field. An update may repeat the value. */
export function fixed<T extends TSchema>(schema: T): Field<'fixed', T, T> {
  return { kind: 'fixed', input: schema, output: schema, stored: 'value', audit: 'shown' };
}

/** Every request that creates or replaces the resource sets the field. */
export function required<T extends TSchema, Out extends TSchema = T>(
  schema: T,
  { output = schema as TSchema as Out, stored = 'value', audit = 'shown' }: Options<Out> = {},
): Field<'required', T, Out> {
  return { kind: 'required', input: schema, output, stored, audit };
}

/** If the field is left out, a new resource gets the default, and an update keeps the value. */
export function defaulted<T extends TSchema, Out extends TSchema = T>(
  schema: T,
  standard: Static<Out>,
  { output = schema as TSchema as Out, stored = 'value', audit = 'shown' }: Options<Out> = {},
): Field<'optional', TOptional<T>, Out> {
  const input = Type.Optional(schema) as TOptional<T>;
  return { kind: 'optional', input, output, default: standard, stored, audit };
}

/** D7.2: like `defaulted`, and null gives the field its default too. */
export function optional<
  T extends TSchema,
  Default extends Static<T> | null,
  Out extends TSchema = Default extends null ? TUnsafe<Static<T> | null> : T,
>(
  schema: T,
  standard: Default,
  { output, stored = 'value', audit = 'shown', rules }: Options<Out> & { readonly rules?: Rules } = {},
): Field<'optional', TOptional<TUnsafe<Static<T> | null>>, Out> {
  const orNull = nullable(schema);
  const shown = (standard === null ? orNull : schema) as TSchema as Out;
  const input = Type.Optional(rules === undefined ? orNull : checked(orNull, rules));
  return { kind: 'optional', input, output: output ?? shown, default: standard, stored, audit };
}

/** Rules for the value in a request that no schema can express. */
type Rules = (value: unknown) => readonly Violation[];

type Table = Readonly<Record<string, Field>>;
type NamesOf<T extends Table, F extends Field> = { [N in keyof T]: T[N] extends F ? N : never }[keyof T];
type FixedNames<T extends Table> = NamesOf<T, Field<'fixed'>>;
type Inputs<T extends Table> = { [N in NamesOf<T, Field<string, TSchema>>]: T[N]['input'] & TSchema };
type Updates<T extends Table> = Omit<Inputs<T>, FixedNames<T>> & { [N in FixedNames<T>]: TOptional<T[N]['output']> };
type Outputs<T extends Table> = { [N in Exclude<keyof T, NamesOf<T, Field<'internal'>>>]: T[N]['output'] };
type Values<T extends Table, N extends keyof T> = { readonly [Each in N]: Static<T[Each]['output']> };

/** What requests set in the row of a resource. */
export type SettingsOf<T extends Table> = Values<T, NamesOf<T, Field<'required' | 'optional'>>>;
/** A row of a resource. */
export type RowOf<T extends Table> = Values<T, Exclude<keyof T, NamesOf<T, Field<'computed'>>>>;

/** The fields of a row that responses show: all but the computed ones. */
export type ShownOf<T extends Table> = Omit<RowOf<T>, NamesOf<T, Field<'internal'>>>;

/** The order of the table is the order of the fields in schemas and responses. */
export function fieldsOf<T extends Table>(table: T) {
  type Settings = SettingsOf<T>;
  type Given = { readonly [N in keyof Settings]?: Settings[N] | null | undefined };
  const all = Object.entries(table);
  const names = (fits: (field: Field) => boolean): string[] =>
    all.filter(([, field]) => fits(field)).map(([name]) => name);
  const inputs = all.flatMap(([name, { kind, input }]) => (input === null ? [] : [{ name, kind, input }]));
  const settable = names(({ kind }) => kind === 'required' || kind === 'optional');
  const shown = names(({ kind }) => kind !== 'internal');
  const defaults = Object.fromEntries(
    all.filter(([, f]) => f.kind === 'optional').map(([name, f]) => [name, f.default]),
  );

  /** The settings that a request changes; null sets the default. */
  const changes = (given: Given): Partial<Settings> => {
    const values: Record<string, unknown> = given;
    const set = settable.filter((name) => values[name] !== undefined);
    return Object.fromEntries(set.map((name) => [name, values[name] ?? defaults[name]])) as Partial<Settings>;
  };

  return {
    /** Properties of the body that creates a resource. */
    create: Object.fromEntries(inputs.map(({ name, input }) => [name, input])) as Inputs<T>,
    /** Properties of the body that changes a resource. */
    update: Object.fromEntries([
      ...inputs.filter(({ kind }) => kind !== 'fixed').map(({ name, input }) => [name, input]),
      ...inputs.filter(({ kind }) => kind === 'fixed').map(({ name, input }) => [name, Type.Optional(input)]),
    ]) as Updates<T>,
    /** Names of the read-only fields, which an update may send back and which are ignored. */
    readOnly: names(({ kind, input }) => kind !== 'internal' && input === null),
    /** Properties of a resource in a response. */
    output: Object.fromEntries(shown.map((name) => [name, table[name]?.output])) as Outputs<T>,
    columns: names(({ stored }) => stored !== 'nowhere'),
    audit: { hides: names(({ audit }) => audit === 'hidden'), omits: names(({ audit }) => audit === 'omitted') },
    changes,
    /** All settings after a request: of a new resource, or of the `current` one. */
    complete(given: Given, current: Settings | null): Settings {
      const before: object = current === null ? defaults : pick(current, settable);
      return { ...before, ...changes(given) } as Settings;
    },
    /** Settings as values of columns, for INSERT and UPDATE. */
    values(sql: Sql, settings: Partial<Settings>) {
      const given = settings as Readonly<Record<string, Value>>;
      const set = settable.filter((name) => given[name] !== undefined);
      const isJson = (name: string): boolean => table[name]?.stored === 'json' && given[name] !== null;
      return Object.fromEntries(
        set.map((name) => [name, isJson(name) ? sql.json(given[name] as JsonValue) : given[name]]),
      );
    },
    /** The shown fields of a row, in the order of the table. Computed fields are present without a value. */
    show(row: RowOf<T>): ShownOf<T> {
      return pick(row, shown) as ShownOf<T>;
    },
  };
}

function pick(values: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) picked[name] = values[name];
  return picked;
}
