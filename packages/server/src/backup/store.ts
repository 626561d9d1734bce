import type { Sql } from '../platform/database/database.ts';
import { auditLog, deliveryLog, eventLog } from '../platform/database/daily-logs.ts';
import { StartError } from '../platform/errors.ts';
import type { FileId } from '../platform/ids.ts';
import type { BackedUpTable, SequenceValue } from './format.ts';

/**
 * Tables whose rows are true only in the cluster where they were written. `log_epoch_begun` names the epoch of the log that is in
 * force. A restored database has none in force, so that its first process begins one: transaction ids start again there, and
 * positions in the log would be ambiguous otherwise (0018_log_epochs.sql).
 */
const clusterTables = ['log_epoch_begun'];

/** PostgreSQL 17 has a limit for a whole transaction, which older versions do not know. */
export async function liftTransactionTimeout(sql: Sql): Promise<void> {
  await sql`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`;
}

/** The tables of the schema with their columns. Generated columns are computed again by a restore. */
export async function listTables(sql: Sql): Promise<BackedUpTable[]> {
  return sql<BackedUpTable[]>`
    SELECT c.relname AS name,
           (SELECT p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent WHERE i.inhrelid = c.oid) AS parent,
           ARRAY(SELECT attname::text FROM pg_attribute
                  WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
                  ORDER BY attnum) AS columns
      FROM pg_class c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> ALL(${clusterTables})
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY c.relname`;
}

/**
 * Keeps the tables from being changed or dropped. LOCK takes no snapshot, so that all tables are locked before the transaction sees
 * the database: they are then as the snapshot shows them.
 */
export async function lockTables(sql: Sql, tables: readonly BackedUpTable[]): Promise<void> {
  if (tables.length > 0)
    await sql.unsafe(`LOCK TABLE ONLY ${tables.map(({ name }) => quoted(name)).join(', ONLY ')} IN ACCESS SHARE MODE`);
}

export async function appliedMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql`SELECT FROM pg_class WHERE oid = to_regclass('migrations')`;
  if (table === undefined) return [];
  const rows = await sql<{ file: string }[]>`SELECT file FROM migrations ORDER BY number`;
  return rows.map(({ file }) => file);
}

export interface BackupSource {
  /** The version of PostgreSQL. */
  readonly postgres: string;
  readonly createdAt: Date;
  /** An estimate of what will be read. */
  readonly bytes: number;
}

export async function describeSource(sql: Sql): Promise<BackupSource> {
  const [row] = await sql<BackupSource[]>`
    SELECT current_setting('server_version') AS postgres, now() AS "createdAt",
           (coalesce((SELECT sum(pg_table_size(oid)) FROM pg_class
                       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'), 0)
            + coalesce((SELECT sum(f.bytes) FROM files f WHERE f.stored), 0))::float8 AS bytes`;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}

/**
 * The values of all sequences. A sequence belongs to no snapshot: a value that is read after the snapshot was taken is at least as high
 * as every number in it.
 */
export async function readSequences(sql: Sql): Promise<SequenceValue[]> {
  const names = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' ORDER BY relname`;
  const values: SequenceValue[] = [];
  for (const { name } of names) {
    const [row] = await sql<Omit<SequenceValue, 'name'>[]>`
      SELECT last_value::text AS last, is_called AS "isCalled" FROM ${sql(name)}`;
    if (row !== undefined) values.push({ name, ...row });
  }
  return values;
}

export async function writeSequence(sql: Sql, { name, last, isCalled }: SequenceValue): Promise<void> {
  await sql`SELECT setval(${quoted(name)}::text::regclass, ${last}::text::bigint, ${isCalled})`;
}

interface FilesPage {
  readonly after: FileId | null;
  readonly limit: number;
  /** The condition of the rows; `null`: all. */
  readonly of: string | null;
}

/** Files whose bytes are stored, by id. */
export async function listStoredFiles(sql: Sql, { after, limit, of }: FilesPage): Promise<FileId[]> {
  const rows = await sql<{ id: FileId }[]>`
    SELECT id FROM files
     WHERE stored ${after === null ? sql`` : sql`AND id > ${after}`} ${sql.unsafe(of === null ? '' : `AND (${of})`)}
     ORDER BY id LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

export async function isFileStored(sql: Sql, id: FileId): Promise<boolean> {
  const rows = await sql`SELECT FROM files WHERE id = ${id} AND stored`;
  return rows.length > 0;
}

/** A copy of a table's rows, as a stream. `rows` is their condition; `null`: all. */
export async function copyOut(sql: Sql, { name, columns }: BackedUpTable, rows: string | null) {
  const names = columns.map(quoted).join(', ');
  const from = rows === null ? `${quoted(name)} (${names})` : `(SELECT ${names} FROM ${quoted(name)} WHERE ${rows})`;
  return sql.unsafe(`COPY ${from} TO STDOUT`).readable();
}

/** A stream that inserts the rows. Rows of a partition go through its parent, which chooses the partition. */
export async function copyIn(sql: Sql, { name, parent, columns }: BackedUpTable) {
  return sql.unsafe(`COPY ${quoted(parent ?? name)} (${columns.map(quoted).join(', ')}) FROM STDIN`).writable();
}

/** Partitions of the daily logs, such as `events_20270131`. */
const partition = /^(\w+)_(\d{8})$/;

/** Creates the partitions of the days that the backup has, unless the schema has them. */
export async function makePartitions(sql: Sql, tables: readonly BackedUpTable[]): Promise<void> {
  const keys = new Map<string, string>([eventLog, auditLog, deliveryLog].map(({ log, key }) => [log, key]));
  for (const { name, parent } of tables) {
    const [, log = '', day = ''] = partition.exec(name) ?? [];
    const key = keys.get(log);
    if (parent === log && key !== undefined) await sql`SELECT make_day(${log}, ${key}, to_date(${day}, 'YYYYMMDD'))`;
  }
}

/** The statements that undo what `prepareLoad` did. */
export type LoadUndo = readonly string[];

/**
 * Prepares the tables of a new schema for rows in any order. Rows are as they were, so no trigger may act on them, and foreign keys are
 * checked once after all rows are there. Constraints that were never validated do not hold for old rows. Rows that the migrations
 * inserted are replaced by those of the backup.
 *
 * Both are done by statements that the owner of the tables may run: `session_replication_role` would need a superuser.
 */
export async function prepareLoad(sql: Sql): Promise<LoadUndo> {
  const constraints = await sql<{ table: string; name: string; definition: string }[]>`
    SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
      FROM pg_constraint
     WHERE connamespace = current_schema()::regnamespace AND conparentid = 0 AND conrelid <> 0
       AND (contype = 'f' OR contype = 'c' AND NOT convalidated)
     ORDER BY conrelid, conname`;
  const triggers = await sql<{ table: string }[]>`
    SELECT DISTINCT tgrelid::regclass::text AS table
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`;
  const [tables] = await sql<{ names: string | null }[]>`
    SELECT string_agg(oid::regclass::text, ', ') AS names
      FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
  for (const { table, name } of constraints) await sql.unsafe(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`);
  for (const { table } of triggers) await sql.unsafe(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await sql.unsafe(`TRUNCATE ${tables?.names ?? ''}`);
  return [
    ...constraints.map(
      ({ table, name, definition }) => `ALTER TABLE ${table} ADD CONSTRAINT ${quoted(name)} ${definition}`,
    ),
    ...triggers.map(({ table }) => `ALTER TABLE ${table} ENABLE TRIGGER USER`),
  ];
}

export async function finishLoad(sql: Sql, undo: LoadUndo): Promise<void> {
  for (const statement of undo) await sql.unsafe(statement);
}

/** Without statistics PostgreSQL would plan for empty tables until autovacuum comes around. */
export async function analyze(sql: Sql): Promise<void> {
  await sql.unsafe('ANALYZE');
}

export function quoted(name: string): string {
  if (name.includes('\0')) throw new StartError('The backup has an invalid name of a table.');
  return `"${name.replaceAll('"', '""')}"`;
}
