import { fragment, type SqlFragment, type Sql } from '../../platform/database/database.ts';

/** The SQL types of columns, with the values they have on the board. Instants are epoch milliseconds there. */
interface ValueOf {
  uuid: string | null;
  'uuid[]': readonly string[] | null;
  text: string | null;
  'text[]': readonly string[];
  boolean: boolean;
  integer: number;
  bigint: number;
  'bigint[]': readonly number[];
  float8: number | null;
  json: unknown;
  jsonb: unknown;
  timestamptz: number | null;
  'timestamptz[]': readonly number[];
}

/** The type of a column, and how its value is read from an object of the board. */
type Column<Entity> = {
  [Type in keyof ValueOf]: readonly [type: Type, valueOf: (entity: Entity) => ValueOf[Type]];
}[keyof ValueOf];

type Table<Entity> = Readonly<Record<string, Column<Entity>>>;
type RowOf<Columns extends Table<never>> = { readonly [Name in keyof Columns]: ReturnType<Columns[Name][1]> };

/**
 * Declares the columns in which a kind of object is stored. Of an object that has changed, only the columns `mutable` are written; its
 * row is found by `id`. A function that returns a function, because TypeScript infers all type parameters of a call or none.
 */
export function columnsOf<Entity>() {
  return <const Immutable extends Table<Entity>, const Mutable extends Table<Entity>>(columns: {
    readonly immutable: Immutable;
    readonly mutable: Mutable;
  }) => new Columns<Entity, RowOf<Immutable & Mutable>>(columns.immutable, columns.mutable);
}

/** The columns of a table as parts of statements, which call the rows that they write `r`. */
class Columns<Entity, Row> {
  readonly #all: Table<Entity>;
  readonly #changing: Table<Entity>;
  /** The names, for INSERT INTO … (…) SELECT …. */
  readonly names: (sql: Sql) => SqlFragment;
  /** The mutable columns, for UPDATE … SET …. */
  readonly assignments: (sql: Sql) => SqlFragment;
  /** The mutable columns, for ON CONFLICT … DO UPDATE SET …. */
  readonly excluded: (sql: Sql) => SqlFragment;
  readonly #definitions: (sql: Sql) => SqlFragment;
  readonly #changingDefinitions: (sql: Sql) => SqlFragment;

  constructor(immutable: Table<Entity>, mutable: Table<Entity>) {
    this.#all = { ...immutable, ...mutable };
    const { id } = immutable;
    this.#changing = id === undefined ? mutable : { id, ...mutable };
    const assigned = Object.keys(mutable);
    this.names = text(Object.keys(this.#all).join(', '));
    this.assignments = text(assigned.map((name) => `${name} = r.${name}`).join(', '));
    this.excluded = text(assigned.map((name) => `${name} = excluded.${name}`).join(', '));
    this.#definitions = text(definitionsOf(this.#all));
    this.#changingDefinitions = text(definitionsOf(this.#changing));
  }

  /** The columns, for SELECT … FROM table AS `alias`. The rows are read as `toRow` returns them. */
  select(sql: Sql, alias: string): SqlFragment {
    const columns = Object.entries(this.#all).map(([name, [type]]) => `${readAs(type, `${alias}.${name}`)} AS ${name}`);
    return sql.unsafe(columns.join(', '));
  }

  /** The rows of new objects, for FROM …. */
  inserted(sql: Sql, entities: Iterable<Entity>): SqlFragment {
    return sql`json_to_recordset(${jsonOf(entities, this.#all)}::text::json) AS r (${this.#definitions(sql)})`;
  }

  /** The rows of changed objects with their mutable columns, for FROM …. */
  updated(sql: Sql, entities: Iterable<Entity>): SqlFragment {
    return sql`json_to_recordset(${jsonOf(entities, this.#changing)}::text::json) AS r (${this.#changingDefinitions(sql)})`;
  }

  /** The rows of objects as a JSON array, for a function. */
  json(entities: Iterable<Entity>): string {
    return jsonOf(entities, this.#all);
  }

  toRow(entity: Entity): Row {
    return Object.fromEntries(Object.entries(this.#all).map(([name, [, valueOf]]) => [name, valueOf(entity)])) as Row;
  }
}

function text(content: string): (sql: Sql) => SqlFragment {
  return fragment((sql) => sql.unsafe(content));
}

function definitionsOf(columns: Table<never>): string {
  return Object.entries(columns)
    .map(([name, [type]]) => `${name} ${type}`)
    .join(', ');
}

/** An expression whose value the driver returns as the board has it. */
function readAs(type: keyof ValueOf, column: string): string {
  switch (type) {
    case 'bigint':
      return `${column}::float8`;
    case 'bigint[]':
      return `${column}::float8[]`;
    case 'timestamptz':
      return `extract(epoch FROM ${column})::float8 * 1000`;
    case 'timestamptz[]':
      return `ARRAY(SELECT extract(epoch FROM at)::float8 * 1000 FROM unnest(${column}) WITH ORDINALITY AS u (at, n) ORDER BY n)`;
    default:
      return column;
  }
}

/** All rows as one JSON text, so that a statement has the same text for any number of rows. What a row does not have is NULL. */
function jsonOf<Entity>(entities: Iterable<Entity>, columns: Table<Entity>): string {
  const list = Object.entries(columns);
  const rows: Record<string, unknown>[] = [];
  for (const entity of entities) {
    const row: Record<string, unknown> = {};
    for (const [name, [type, valueOf]] of list) {
      const value = valueOf(entity);
      if (value !== null) row[name] = writeAs(type, value);
    }
    rows.push(row);
  }
  return JSON.stringify(rows);
}

function writeAs(type: keyof ValueOf, value: unknown): unknown {
  if (type === 'timestamptz') return textOf(value as number);
  if (type === 'timestamptz[]') return (value as readonly number[]).map(textOf);
  return value;
}

/** An instant as JSON has it. Rows have no `Date`, because `JSON.stringify` takes much longer for objects that have a method toJSON. */
function textOf(at: number): string {
  return new Date(at).toJSON();
}

/** New objects are inserted, and changed ones updated: `createdIn` of a new object is the changes that are being written. */
export function splitByAge<Entity extends { readonly createdIn: object | null }>(
  entities: Iterable<Entity>,
  changes: object,
): { readonly added: readonly Entity[]; readonly changed: readonly Entity[] } {
  const [added, changed]: [Entity[], Entity[]] = [[], []];
  for (const entity of entities) (entity.createdIn === changes ? added : changed).push(entity);
  return { added, changed };
}
