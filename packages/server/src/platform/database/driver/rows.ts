import type { FieldDef } from 'pg';

/** What the server says about a result besides its rows. */
export interface ResultInfo {
  /** How many rows the statement returned or changed. */
  readonly count: number;
  /** As in `INSERT`. */
  readonly command: string;
  readonly columns: readonly Pick<FieldDef, 'name'>[];
}

/** The rows of a result. */
export class Rows extends Array<Record<string, unknown>> implements ResultInfo {
  // Private, so that a result equals an array of its rows.
  #count = 0;
  #command = '';
  #columns: readonly Pick<FieldDef, 'name'>[] = [];

  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  get count(): number {
    return this.#count;
  }

  get command(): string {
    return this.#command;
  }

  get columns(): readonly Pick<FieldDef, 'name'>[] {
    return this.#columns;
  }

  /** Takes the end of a command, as in `INSERT 0 1`. */
  complete(tag: string, columns: readonly Pick<FieldDef, 'name'>[]): void {
    const [, command = tag, count = '0'] = /^(.*?)(?: \d+)?? (\d+)$/.exec(tag) ?? [];
    this.#command = command;
    this.#count = Number(count);
    this.#columns = columns;
  }
}
