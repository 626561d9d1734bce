import { connect, type DatabaseAddress, type Sql } from '../../packages/server/src/platform/database/database.ts';

/** Values by type, as SQL, for columns that must not be null; `n` is the number of the row. */
const valueOfType: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: "'t' || n",
  bytea: "decode(md5(random()::text), 'hex')",
  integer: '0',
  smallint: '0',
  bigint: 'n',
  boolean: 'false',
  json: "'{}'",
  jsonb: "'{}'",
  xid8: "'3'",
  'timestamp with time zone': 'now()',
  'text[]': "'{}'",
  'uuid[]': "'{}'",
  'bigint[]': "'{}'",
  'double precision': '0',
  'timestamp with time zone[]': "'{}'",
};

export interface ManyRows {
  readonly table: string;
  readonly count: number;
  /** Values of some columns, as SQL. `n` is the number of the row, from 1. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Inserts rows with the least that their table demands. What they belong to need not exist, no trigger runs, and no value is checked. */
export async function insertMany(address: DatabaseAddress, tables: readonly ManyRows[]): Promise<void> {
  const pool = connect(address, { max: 1, connection: { session_replication_role: 'replica', statement_timeout: 0 } });
  try {
    for (const rows of tables) await insertInto(pool, rows);
  } finally {
    await pool.end();
  }
}

async function insertInto(sql: Sql, { table, count, values = {} }: ManyRows): Promise<void> {
  const checks = await sql<{ name: string }[]>`
    SELECT conname AS name FROM pg_constraint WHERE conrelid = ${table}::regclass AND contype = 'c'`;
  for (const { name } of checks) await sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(name)}`;
  const columns = await sql<{ name: string; type: string }[]>`
    SELECT attname AS name, format_type(atttypid, NULL) AS type
      FROM pg_attribute
     WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef
       AND attidentity = '' AND attname <> ALL (${Object.keys(values)}::text[])`;
  const given = columns.map(({ name, type }) => {
    const value = valueOfType[type];
    if (value === undefined) throw new Error(`${table}.${name} needs a value of the type ${type}`);
    return [name, value] as const;
  });
  const all = [...given, ...Object.entries(values)];
  await sql.unsafe(
    `INSERT INTO ${table} (${all.map(([name]) => name).join(', ')})
     SELECT ${all.map(([, value]) => value).join(', ')} FROM generate_series(1, ${count}) AS n`,
  );
}
