import { JsonParameter, type JsonValue, type Value } from './values.ts';
import type { Readable, Writable } from 'node:stream';
import type { ResultInfo, Rows } from './rows.ts';

/**
 * The template tag: sql`SELECT … WHERE id = ${id}`.
 *
 * Parameters are never part of the text: `${value}` becomes $1, $2, … A statement is text and parameters, and runs when it is awaited; used as
 * a value of another statement, it is a fragment of that and never runs of its own. Identifiers are quoted: `sql('name')`, `sql(['id', 'name'])`.
 */

// oxlint-disable-next-line typescript/no-explicit-any -- The caller knows the columns. `unknown` would need a cast for each value.
export type Row = Record<string, any>;

type RowList = readonly (object | undefined)[];

/** Names of columns or tables, or the columns of an INSERT or UPDATE with their values. A dot separates names: `q.id` is "q"."id". */
class Names {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, TemplateValue>> | null;

  constructor(given: string | readonly string[] | Readonly<Record<string, TemplateValue>>) {
    const isNames = typeof given === 'string' || isList(given);
    this.names = typeof given === 'string' ? [given] : isList(given) ? given : Object.keys(given);
    this.values = isNames ? null : given;
  }
}

function isList(given: object): given is readonly string[] {
  return Array.isArray(given);
}

/** What can stand in a template. A list of fragments is joined with spaces. */
export type TemplateValue = Value | Names | Statement<RowList> | readonly Statement<RowList>[];

/** Runs statements: the pool, or the connection of a transaction. */
export interface Sql {
  <T extends RowList = Row[]>(template: TemplateStringsArray, ...values: readonly TemplateValue[]): Statement<T>;
  (names: string | readonly string[] | Readonly<Record<string, TemplateValue>>): Names;
  /** A text as it is, without parameters; alone it may have several statements. */
  unsafe<T extends RowList = Row[]>(text: string): Statement<T>;
  /** A parameter of type jsonb. `null` is NULL, not JSON's null. */
  json(value: JsonValue): JsonParameter;
}

/** Whether a statement with parameters is prepared, and executed again without parsing and planning. */
export type StatementKind = 'prepared' | 'unprepared';

/** What a statement asks of its connection, and what becomes of it. */
export interface PendingStatement {
  readonly text: string;
  readonly parameters: readonly Value[];
  /** A `text` is sent as it is and may have several statements, whose last result counts. Copies transfer rows and are sent as text. */
  readonly kind: StatementKind | 'text' | 'copy in' | 'copy out';
  /**
   * Its stack says where the statement was made. Only an error of the statement reads it, because that makes Node load the source maps, which
   * take 40 MB.
   */
  readonly origin: Error | null;
  readonly resolve: (result: Rows | Readable | Writable) => void;
  readonly reject: (error: Error) => void;
}

type Run = (pending: PendingStatement) => void;

/** A statement that runs when it is awaited, or a fragment of another. */
export class Statement<out T extends RowList = Row[]> implements Promise<T & ResultInfo> {
  readonly [Symbol.toStringTag] = 'Statement';
  readonly strings: readonly string[];
  readonly values: readonly TemplateValue[];
  readonly #run: Run;
  readonly #kind: StatementKind | 'text';
  #result: Promise<unknown> | null = null;

  constructor(strings: readonly string[], values: readonly TemplateValue[], run: Run, kind: StatementKind | 'text') {
    this.strings = strings;
    this.values = values;
    this.#run = run;
    this.#kind = kind;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- A statement is awaited like a promise; a fragment is never awaited.
  then<R = T & ResultInfo, E = never>(
    onResult?: ((rows: T & ResultInfo) => R | PromiseLike<R>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    return this.#start<T & ResultInfo>(this.#kind).then(onResult, onError);
  }

  async catch<E = never>(onError?: ((error: unknown) => E | PromiseLike<E>) | null): Promise<(T & ResultInfo) | E> {
    return this.then(null, onError);
  }

  async finally(onEnd?: (() => void) | null): Promise<T & ResultInfo> {
    return this.then(null).finally(onEnd);
  }

  /** Runs the statement before it is awaited. */
  execute(): this {
    void this.#start(this.#kind);
    return this;
  }

  /** The rows of COPY … TO STDOUT. */
  async readable(): Promise<Readable> {
    return this.#start<Readable>('copy out');
  }

  /** Where to write the rows for COPY … FROM STDIN. The stream finishes when the server has stored them. */
  async writable(): Promise<Writable> {
    return this.#start<Writable>('copy in');
  }

  #start<R>(kind: PendingStatement['kind']): Promise<R> {
    this.#result ??= new Promise((resolve, reject) => {
      const parameters: Value[] = [];
      const text = render(this, parameters, '');
      this.#run({ text, parameters, kind, origin: originOf(this.strings), resolve, reject });
    });
    return this.#result as Promise<R>;
  }
}

/** The text of a statement, which comes after `before`. Adds its parameters. */
function render({ strings, values }: Statement<RowList>, parameters: Value[], before: string): string {
  let text = before + (strings[0] ?? '');
  for (const [index, value] of values.entries())
    text = renderValue(value, parameters, text) + (strings[index + 1] ?? '');
  return text;
}

function renderValue(value: TemplateValue, parameters: Value[], before: string): string {
  if (value instanceof Statement) return render(value, parameters, before);
  if (value instanceof Names) return renderNames(value, parameters, before);
  if (isFragments(value)) return value.reduce((text, each) => render(each, parameters, `${text} `), before);
  if (value === undefined)
    throw Object.assign(new Error('A value in a statement is undefined; NULL is null.'), { code: 'UNDEFINED_VALUE' });
  parameters.push(value);
  return `${before}$${parameters.length}`;
}

function isFragments(value: TemplateValue): value is readonly Statement<RowList>[] {
  return Array.isArray(value) && value[0] instanceof Statement;
}

/** `UPDATE … SET ${names}` has assignments; an object elsewhere is for `INSERT INTO … ${names}`. */
function renderNames({ names, values }: Names, parameters: Value[], before: string): string {
  const quoted = names.map(quote);
  if (values === null) return before + quoted.join(',');
  if (/\bSET\s+$/i.test(before))
    return names.reduce((text, name, index) => {
      const assignment = `${text}${index === 0 ? '' : ','}${quoted[index]}=`;
      return renderValue(values[name], parameters, assignment);
    }, before);
  const start = `${before}(${quoted.join(',')})values(`;
  const row = names.reduce(
    (text, name, index) => renderValue(values[name], parameters, index === 0 ? text : `${text},`),
    start,
  );
  return `${row})`;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`;
}

/** Made with the first statement of each template: an error for every statement would cost more than the statement. */
const origins = new WeakMap<readonly string[], Error>();

function originOf(strings: readonly string[]): Error {
  const origin = origins.get(strings) ?? new Error('statement');
  origins.set(strings, origin);
  return origin;
}

/** A tag whose statements run by `run`. */
export function createTag(kind: StatementKind, run: Run): Sql {
  function sql(first: unknown, ...values: readonly TemplateValue[]): Statement | Names {
    if (isTemplate(first)) return new Statement(first, values, run, kind);
    return new Names(first as ConstructorParameters<typeof Names>[0]);
  }
  return Object.assign(sql, {
    unsafe: (text: string) => new Statement([text], [], run, 'text'),
    json: (value: JsonValue) => new JsonParameter(value),
  }) as Sql;
}

function isTemplate(first: unknown): first is TemplateStringsArray {
  return Array.isArray(first) && 'raw' in first;
}
