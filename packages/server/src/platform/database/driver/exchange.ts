import pg, { type Connection as Wire } from 'pg';
import { serialize as messages } from 'pg-protocol';
import type { CopiedRows, DataRow, Description, Field } from './messages.ts';
import { Rows } from './rows.ts';
import { parserOf } from './values.ts';

/**
 * What is sent at once and answered by one ReadyForQuery. `pg` runs it as one query of its pipeline: it calls `submit`, and then the `handle…`
 * methods for each message until ReadyForQuery or an error. The connection calls `end` after ReadyForQuery, which `pg` does not report
 * after an error.
 */
export abstract class Exchange extends pg.Query {
  readonly bytes: Buffer;
  readonly #onEnd: (error: Error | null) => void;
  /** What the server, or a parser of a column, has reported. */
  #error: Error | null = null;
  override readonly submit = write;

  constructor(bytes: Buffer, onEnd: (error: Error | null) => void) {
    super('');
    this.bytes = bytes;
    this.#onEnd = onEnd;
  }

  get error(): Error | null {
    return this.#error;
  }

  /** Ends the exchange, after ReadyForQuery or because the connection is `lost`. */
  end(lost: Error | null): void {
    this.#onEnd(lost ?? this.#error);
  }

  fail(error: unknown): void {
    this.#error ??= error instanceof Error ? error : new Error(String(error));
  }

  handleError(error: unknown): void {
    this.fail(error);
  }

  handleRowDescription(_description: Description): void {}
  handleDataRow(_row: DataRow): void {}
  handleCommandComplete(_message: { readonly text: string }): void {}
  handleEmptyQuery(): void {}
  handleReadyForQuery(): void {}
  handleCopyData(_rows: CopiedRows): void {}
  /** Nobody has asked for a COPY that this is. */
  handleCopyInResponse(wire: Wire): void {
    wire.stream.write(messages.copyFail('COPY needs readable() or writable()'));
  }

  /** `pg` does not pass on this message, so the connection does. */
  handleParameterDescription(_types: readonly number[]): void {}
}

/** Exchanges that are sent in one turn of the event loop travel together. */
function write(this: Exchange, { stream }: Wire): void {
  if (stream.writableCorked === 0) {
    stream.cork();
    setImmediate(() => stream.uncork());
  }
  stream.write(this.bytes);
}

export interface Column {
  readonly name: string;
  readonly parse: ((text: string) => unknown) | null;
}

function columnOf({ name, dataTypeID }: Field): Column {
  return { name, parse: parserOf(dataTypeID) };
}

/** A statement that the server has prepared on a connection. */
export interface Prepared {
  readonly name: string;
  readonly types: readonly number[];
  readonly columns: readonly Column[];
}

/** Prepares a statement and learns the types of its parameters and columns. */
export class Preparation extends Exchange {
  readonly #name: string;
  #types: readonly number[] = [];
  #columns: readonly Column[] = [];

  constructor(name: string, text: string, types: number[], onEnd: (error: Error | null) => void) {
    super(
      Buffer.concat([messages.parse({ name, text, types }), messages.describe({ type: 'S', name }), messages.sync()]),
      onEnd,
    );
    this.#name = name;
  }

  override handleParameterDescription(types: readonly number[]): void {
    this.#types = types;
  }

  override handleRowDescription({ fields }: Description): void {
    this.#columns = fields.map(columnOf);
  }

  get prepared(): Prepared {
    return { name: this.#name, types: this.#types, columns: this.#columns };
  }
}

/** Executes a prepared statement, or a text of statements, and collects the rows. */
export class Execution extends Exchange {
  #columns: readonly Column[];
  #rows = new Rows();
  /** Whether the next CommandComplete is that of BEGIN. */
  #begins: boolean;

  constructor(bytes: Buffer, columns: readonly Column[], begins: boolean, onEnd: (error: Error | null) => void) {
    super(bytes, onEnd);
    this.#columns = columns;
    this.#begins = begins;
  }

  /** The rows of the last statement. */
  get result(): Rows {
    return this.#rows;
  }

  /** Only a text has descriptions of its results in the exchange. */
  override handleRowDescription({ fields }: Description): void {
    if (this.#rows.command !== '') this.#rows = new Rows();
    this.#columns = fields.map(columnOf);
  }

  override handleDataRow({ fields }: DataRow): void {
    const columns = this.#columns;
    const row: Record<string, unknown> = {};
    try {
      for (let index = 0; index < columns.length; index += 1) {
        const column = columns[index];
        const text = fields[index] ?? null;
        if (column !== undefined) row[column.name] = text === null || column.parse === null ? text : column.parse(text);
      }
    } catch (error) {
      this.fail(error);
    }
    this.#rows.push(row);
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    if (this.#begins) {
      this.#begins = false;
      return;
    }
    if (this.#rows.command !== '') this.#rows = new Rows();
    this.#rows.complete(text, this.#columns);
  }
}

export const syncBytes = messages.sync();

export function textBytes(text: string): Buffer {
  return messages.query(text);
}

export function executionBytes(prepared: Prepared, values: (string | Buffer | null)[], begin: string | null): Buffer {
  const bytes = [messages.bind({ statement: prepared.name, values }), messages.execute(), syncBytes];
  return Buffer.concat(begin === null ? bytes : [beginBytes(begin), ...bytes]);
}

/**
 * BEGIN without a Sync, so that the server skips what follows if BEGIN fails: nothing runs outside of the transaction. BEGIN is that simple, but
 * `statement_timeout` can cancel it.
 */
export function beginBytes(text: string): Buffer {
  return Buffer.concat([messages.parse({ text }), messages.bind(), messages.execute()]);
}
