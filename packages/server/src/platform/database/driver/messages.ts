/** The messages of `pg-protocol` that we read. It does not export their types. */

export interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

export interface Description {
  readonly fields: readonly Field[];
}

export interface DataRow {
  readonly fields: readonly (string | null)[];
}

export interface CopiedRows {
  readonly chunk: Buffer;
}
