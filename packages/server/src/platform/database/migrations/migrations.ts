import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { databaseErrorCode, isLockTimeout, type Database, type Sql } from '../database.ts';
import { StartError } from '../../errors.ts';
import { kindOf, withoutComments, type MigrationKind } from './migration-kinds.ts';
import { startPools } from '../pools.ts';
import { packageFile } from '../../package-files.ts';

const ownFolder = fileURLToPath(packageFile('migrations/'));

/** An arbitrary number that must never change, or two versions of Usher could migrate at the same time. */
export const migrationLock = 7_483_650_217;

/** A migration that waits for a lock blocks everybody who wants the table after it, so it gives up soon and tries again. */
const lockTimeoutMs = 2_000;
const retryMs = 1_000;
const maxTries = 30;
/** How often a process looks whether another has finished its migrations. */
const pollMs = 50;

export interface Migration {
  readonly number: number;
  readonly file: string;
}

export interface PendingMigration extends Migration {
  readonly kind: MigrationKind;
  readonly text: string;
}

type PoolSql = ReturnType<Database['connect']>;

interface MigrateOptions extends Partial<MigrationListener> {
  /** With `off`, a schema that is not up to date is refused. */
  readonly mode?: 'on' | 'off';
  /** Where the migrations are. Tests have their own. */
  readonly folder?: string;
}

/** Is called while migrations are applied, if there are any. */
export interface MigrationListener {
  /** Before the first one. The database has the schema `version`; 0 is a new database. */
  readonly onBegin: (version: number, pending: readonly PendingMigration[]) => void;
  /** Before a migration is tried again, because it waited for a lock. */
  readonly onRetry: (migration: Migration) => void;
  readonly onApplied: (migration: PendingMigration, ms: number) => void;
}

/** The migrations of this program, numbered from 1 without a gap. */
export async function knownMigrations(folder = ownFolder): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).toSorted();
  const migrations = files.map((file) => ({ number: Number(file.slice(0, 4)), file }));
  const gap = migrations.find(({ number }, index) => number !== index + 1);
  if (gap !== undefined) throw new Error(`migration ${gap.file} is out of sequence`);
  return migrations;
}

/** Migrations that the database lacks. */
export async function pendingMigrations(sql: Sql, folder = ownFolder): Promise<readonly PendingMigration[]> {
  const known = await knownMigrations(folder);
  const [table] = await sql`SELECT FROM pg_class WHERE oid = to_regclass('migrations')`;
  const [row] =
    table === undefined ? [] : await sql<{ version: number }[]>`SELECT max(number) AS version FROM migrations`;
  const version = row?.version ?? 0;
  return Promise.all(known.slice(version).map(async (migration) => readMigration(folder, migration)));
}

async function readMigration(folder: string, migration: Migration): Promise<PendingMigration> {
  const text = await readFile(`${folder}${migration.file}`, 'utf8');
  return { ...migration, text, kind: kindOf(text) };
}

/**
 * Migrates the schema to the version of this program, one transaction for each migration, and then runs `after` in one more. A lock
 * serialises processes that start together; the later ones find nothing left to do.
 */
export async function migrate(
  database: Database,
  after: (sql: Sql) => Promise<void> = async () => undefined,
  { mode = 'on', folder = ownFolder, ...listener }: MigrateOptions = {},
): Promise<void> {
  const known = await knownMigrations(folder);
  const pool = database.connect(startPools.migrations);
  try {
    await refuseOldServer(pool);
    const lock = await takeLock(pool);
    await inLockedTransaction(lock, async (sql) => {
      if (await hasTable(sql)) return;
      refuseUnknownSchema({ version: 0, isCompatible: false }, known.length, mode);
      await makeTable(sql);
    });
    const state = await schemaState(pool, known.length);
    refuseUnknownSchema(state, known.length, mode);
    const pending = await Promise.all(known.slice(state.version).map(async (each) => readMigration(folder, each)));
    if (pending.length > 0) listener.onBegin?.(state.version, pending);
    for (const migration of pending) {
      const began = performance.now();
      await retryWhileLocked(migration, listener.onRetry, async () => apply(lock, migration));
      listener.onApplied?.(migration, Math.round(performance.now() - began));
    }
    await inLockedTransaction(lock, after);
  } catch (cause) {
    if (databaseErrorCode(cause) !== insufficientPrivilege) throw cause;
    throw new StartError(
      'The user of the database may not migrate it. Grant CREATE on its schema, or set USHER_MIGRATE=off and run "usher migrate" as the owner of the tables.',
      { cause },
    );
  } finally {
    await pool.end({ timeout: 1 });
  }
}

async function hasTable(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isThere: boolean }[]>`
    SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('migrations') AND attname = 'kind') AS "isThere"`;
  return row?.isThere === true;
}

async function makeTable(sql: Sql): Promise<void> {
  await sql`
    CREATE TABLE IF NOT EXISTS migrations (
      number     integer        PRIMARY KEY,
      file       text           NOT NULL,
      applied_at timestamptz(3) NOT NULL DEFAULT now()
    )`;
  // Versions of Usher that do not write this column do not say what their migrations are, so they count as breaking.
  await sql`ALTER TABLE migrations ADD COLUMN kind text NOT NULL DEFAULT 'breaking'`;
}

const insufficientPrivilege = '42501';

/** The migration lock, which the only connection of the pool holds until it closes. */
interface MigrationLock {
  readonly pool: PoolSql;
  /** The backend of that connection. After a loss the pool opens another connection, which does not hold the lock. */
  readonly backend: number;
}

/**
 * Waiting in PostgreSQL instead would keep a snapshot open, for which an index that is built concurrently waits in turn.
 */
async function takeLock(pool: PoolSql): Promise<MigrationLock> {
  for (;;) {
    const [row] = await pool<{ isTaken: boolean; backend: number }[]>`
      SELECT pg_try_advisory_lock(${migrationLock}) AS "isTaken", pg_backend_pid() AS backend`;
    if (row?.isTaken === true) return { pool, backend: row.backend };
    await sleep(pollMs);
  }
}

async function refuseLostLock(sql: Sql, { backend }: MigrationLock): Promise<void> {
  const [row] = await sql<{ backend: number }[]>`SELECT pg_backend_pid() AS backend`;
  if (row?.backend !== backend)
    throw new StartError(
      'The connection that held the migration lock was lost, so another process may be migrating now. Start Usher again.',
    );
}

/** The connection cannot be replaced within a transaction. */
async function inLockedTransaction(lock: MigrationLock, run: (sql: Sql) => Promise<void>): Promise<void> {
  await lock.pool.begin(async (sql) => {
    await refuseLostLock(sql, lock);
    await run(sql);
  });
}

async function apply(lock: MigrationLock, { number, file, kind, text }: PendingMigration): Promise<void> {
  if (kind.isTransaction) {
    await inLockedTransaction(lock, async (sql) => {
      await sql.unsafe(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
      await sql.unsafe(text);
      await record(sql, { number, file, kind });
    });
    return;
  }
  for (const name of indexesOf(text)) await dropIfInvalid(lock, name);
  for (const statement of statementsOf(text)) {
    await refuseLostLock(lock.pool, lock);
    await lock.pool.unsafe(statement);
  }
  // The connection may have been replaced between a check and its statement. Then the migration is not recorded, and is applied again.
  await inLockedTransaction(lock, async (sql) => record(sql, { number, file, kind }));
}

async function record(sql: Sql, { number, file, kind }: Omit<PendingMigration, 'text'>): Promise<void> {
  await sql`INSERT INTO migrations (number, file, kind) VALUES (${number}, ${file}, ${kind.compatibility})`;
}

/**
 * Creates the schema as of the migration `version`, in the caller's transaction. It is for a database without tables: an index need
 * not be built concurrently there. The migration lock makes a process that starts meanwhile wait for the transaction.
 */
export async function createSchema(sql: Sql, version: number, folder = ownFolder): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${migrationLock})`;
  await refuseOldServer(sql);
  await refuseTables(sql);
  if (!(await hasTable(sql))) await makeTable(sql);
  for (const migration of (await knownMigrations(folder)).slice(0, version)) {
    const { number, file, kind, text } = await readMigration(folder, migration);
    await sql.unsafe(kind.isTransaction ? text : text.replaceAll(' CONCURRENTLY ', ' '));
    await record(sql, { number, file, kind });
  }
}

/** Tables of extensions do not count. */
async function refuseTables(sql: Sql): Promise<void> {
  const [found] = await sql<{ name: string }[]>`
    SELECT relname AS name
      FROM pg_class c
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY relname
     LIMIT 1`;
  if (found !== undefined)
    throw new StartError(
      `The database is not empty: it has a table "${found.name}". A backup is restored into an empty database: create one and name it by DATABASE_URL, or name an empty folder by USHER_DATA_DIR.`,
    );
}

/** The names of the indexes that the migration builds. `migrationFaults` requires this form. */
function indexesOf(text: string): readonly string[] {
  return [...withoutComments(text).matchAll(/\bCREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)/gi)].map(
    ([, name = '']) => name,
  );
}

/**
 * An index that was being built concurrently when its process died is left behind, invalid, and `IF NOT EXISTS` would find it. The
 * backend of a process that died may still be building it: such an index is valid in the end.
 */
async function dropIfInvalid(lock: MigrationLock, name: string): Promise<void> {
  for (;;) {
    const [index] = await lock.pool<{ isBeingBuilt: boolean }[]>`
      SELECT EXISTS (SELECT FROM pg_stat_progress_create_index p
                      WHERE p.datname = current_database() AND p.index_relid = i.indexrelid) AS "isBeingBuilt"
        FROM pg_index i
       WHERE i.indexrelid = to_regclass(${name}) AND NOT i.indisvalid`;
    if (index === undefined) return;
    if (!index.isBeingBuilt) break;
    await sleep(pollMs);
  }
  await refuseLostLock(lock.pool, lock);
  await lock.pool.unsafe(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
}

/** These migrations have no function bodies, so every semicolon at the end of a line ends a statement. */
function statementsOf(text: string): readonly string[] {
  return withoutComments(text)
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

async function retryWhileLocked(
  migration: Migration,
  onRetry: MigrationListener['onRetry'] | undefined,
  run: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (tries === maxTries)
        throw new StartError(
          `The migration ${migration.file} could not lock a table within ${maxTries} attempts, because a long transaction uses it. Find it in pg_stat_activity, end it, and start Usher again.`,
          { cause: error },
        );
      onRetry?.(migration);
      await sleep(retryMs);
    }
  }
}

export interface SchemaState {
  /** The number of the last migration. */
  readonly version: number;
  /** Whether a program that knows `known` migrations can use the schema: newer migrations have only added to it. */
  readonly isCompatible: boolean;
}

/** The state of the schema, for a program that knows this many migrations. */
export async function schemaState(sql: Sql, known: number): Promise<SchemaState> {
  const [row] = await sql<SchemaState[]>`
    SELECT coalesce(max(number), 0) AS version,
           coalesce(max(number), 0) >= ${known} AND coalesce(bool_and(kind = 'additive') FILTER (WHERE number > ${known}), true)
             AS "isCompatible"
      FROM migrations`;
  return row ?? { version: 0, isCompatible: false };
}

function refuseUnknownSchema({ version, isCompatible }: SchemaState, known: number, mode: 'on' | 'off'): void {
  if (version > known && !isCompatible)
    throw new StartError(
      `The database has schema version ${version}, newer than this Usher knows (${known}). Start a newer Usher, or restore a backup made with this version.`,
    );
  if (version < known && mode === 'off')
    throw new StartError(
      `The database has schema version ${version}, and this Usher needs version ${known}. USHER_MIGRATE is off: run "usher migrate" first.`,
    );
}

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<{ version: number; text: string }[]>`
    SELECT current_setting('server_version_num')::integer AS version, current_setting('server_version') AS text`;
  if (row !== undefined && row.version < 150_000) {
    throw new StartError(`Usher needs PostgreSQL 15 or newer; DATABASE_URL points to version ${row.text}.`);
  }
}
