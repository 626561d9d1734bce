import type { Database, Sql } from '../platform/database/database.ts';
import { connect, databaseErrorCode } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import type { FileId } from '../platform/ids.ts';
import { commandPools } from '../platform/database/pools.ts';
import { version } from '../platform/version.ts';
import type { FileStore } from '../engagements/files/file-store.ts';
import { BackupWriter, formats, type BackedUpTable, type BackupHeader, type FormatName } from './format.ts';
import {
  appliedMigrations,
  copyOut,
  describeSource,
  isFileStored,
  liftTransactionTimeout,
  listStoredFiles,
  listTables,
  lockTables,
  readSequences,
} from './store.ts';

/** Positions in the log survive a move to another cluster since this migration. */
const firstMigration = 18;
/** How often tables may change between their list and their locks, for instance because a partition is created. */
const maxTries = 10;
const filesPerRead = 10_000;

export interface Progress {
  /** What is being read or written: a table, or `files`. */
  readonly at: string;
  readonly bytes: number;
  /** An estimate; `null` if it is not known. */
  readonly totalBytes: number | null;
}

export interface BackupSummary {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** Uncompressed. */
  readonly bytes: number;
  readonly schema: number;
  readonly created_at: string;
  /** Files that are in the database and not in the file store. */
  readonly missing: readonly FileId[];
}

export interface BackupOptions {
  readonly database: Database;
  readonly fileStore: FileStore;
  readonly to: NodeJS.WritableStream;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Without it, the whole database is written. */
  readonly part?: BackupPart;
}

/** A part of the database that has a format of its own. */
interface BackupPart {
  readonly header: Pick<BackupHeader, 'account'> & { readonly format: FormatName };
  /** The condition for the rows of a table, which may be a partition of `parent`; `null`: the table is left out. */
  readonly rowsOf: (table: BackedUpTable) => string | null;
  readonly hasFiles: boolean;
}

/**
 * Writes a backup while the service runs. All tables are read in one snapshot. The files of that snapshot are read after the
 * transaction, which would hold back vacuum and partitions otherwise; they never change, and one that was deleted since is left out.
 */
export async function writeBackup({
  database,
  fileStore,
  to,
  signal,
  onProgress,
  part,
}: BackupOptions): Promise<BackupSummary> {
  const pool = connect(database.address, commandPools.backup);
  const stop = (): void => void pool.end({ timeout: 0 });
  signal.addEventListener('abort', stop);
  const writer = new BackupWriter(to, signal);
  try {
    const { summary, files, totalBytes } = await writeDatabase(pool, { writer, onProgress, part });
    let { bytes } = summary;
    const missing: FileId[] = [];
    let count = 0;
    for (const id of files.ids()) {
      const length = await writeFile(writer, fileStore, id);
      if (length !== null) count += 1;
      else if (await isFileStored(pool, id)) missing.push(id);
      bytes += length ?? 0;
      onProgress({ at: 'files', bytes, totalBytes });
    }
    await writer.end();
    return { ...summary, files: count, bytes, missing };
  } catch (error) {
    writer.abandon(error);
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    // After a failure a COPY may still be running, and nothing waits for its end.
    await pool.end({ timeout: 0 });
  }
}

type Pool = ReturnType<typeof connect>;

interface WrittenDatabase {
  readonly summary: Omit<BackupSummary, 'files' | 'missing'>;
  readonly files: FileIds;
  readonly totalBytes: number | null;
}

interface Target {
  readonly writer: BackupWriter;
  readonly onProgress: (progress: Progress) => void;
  readonly part: BackupPart | undefined;
}

async function writeDatabase(pool: Pool, target: Target): Promise<WrittenDatabase> {
  await liftTransactionTimeout(pool);
  let hasBegun = false;
  for (let tries = 1; ; tries += 1) {
    const expected = await listTables(pool);
    try {
      const written = await pool.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (sql) => {
        await lockTables(sql, expected);
        const tables = await listTables(sql);
        if (!sameTables(expected, tables)) return null;
        hasBegun = true;
        return writeSnapshot(sql, tables, target);
      });
      if (written !== null) return written;
    } catch (error) {
      if (hasBegun || !changedMeanwhile.has(databaseErrorCode(error) ?? '')) throw error;
    }
    if (tries === maxTries)
      throw new StartError('The tables of the database change all the time. Make the backup when no migration runs.');
  }
}

const changedMeanwhile = new Set([
  '42P01', // undefined_table
  '40P01', // deadlock_detected
]);

function sameTables(one: readonly BackedUpTable[], other: readonly BackedUpTable[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function writeSnapshot(
  sql: Sql,
  all: readonly BackedUpTable[],
  { writer, onProgress, part }: Target,
): Promise<WrittenDatabase> {
  const migrations = await appliedMigrations(sql);
  if (migrations.length === 0)
    throw new StartError('The database has no tables of Usher. Check DATABASE_URL and USHER_DATA_DIR.');
  if (migrations.length < firstMigration)
    throw new StartError(
      `The database has schema version ${migrations.length}; a backup needs version ${firstMigration} or newer. Run "usher migrate" first.`,
    );
  const { postgres, createdAt, bytes: databaseBytes } = await describeSource(sql);
  const totalBytes = part === undefined ? databaseBytes : null;
  const tables = part === undefined ? all : all.filter((table) => part.rowsOf(table) !== null);
  const header: BackupHeader = {
    ...part?.header,
    format: formats[part?.header.format ?? 'backup'],
    usher: version,
    postgres,
    created_at: createdAt.toISOString(),
    migrations,
    tables,
  };
  await writer.json('header', header);
  let rows = 0;
  let bytes = 0;
  for (const table of tables) {
    await writer.json('table', { name: table.name });
    for await (const chunk of (await copyOut(sql, table, part?.rowsOf(table) ?? null)) as AsyncIterable<Buffer>) {
      await writer.data(chunk);
      rows += countRows(chunk);
      bytes += chunk.length;
      onProgress({ at: table.name, bytes, totalBytes });
    }
    await writer.close();
  }
  if (part === undefined) await writer.json('sequences', await readSequences(sql));
  const files = await FileIds.read(sql, part);
  const summary = { tables: tables.length, rows, bytes, schema: migrations.length, created_at: header.created_at };
  return { summary, files, totalBytes };
}

/** In COPY's text format a line is a row: line breaks in values are escaped. */
export function countRows(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) count += 1;
  return count;
}

/** The ids of the files of the snapshot, 16 bytes each: 16 MB for a million files. */
class FileIds {
  readonly #pages: readonly Buffer[];

  private constructor(pages: readonly Buffer[]) {
    this.#pages = pages;
  }

  static async read(sql: Sql, part: BackupPart | undefined): Promise<FileIds> {
    const pages: Buffer[] = [];
    if (part?.hasFiles === false) return new FileIds(pages);
    const of = part?.rowsOf({ name: 'files', parent: null, columns: [] }) ?? null;
    let last: FileId | null = null;
    for (;;) {
      const page: FileId[] = await listStoredFiles(sql, { after: last, limit: filesPerRead, of });
      last = page.at(-1) ?? null;
      if (last === null) return new FileIds(pages);
      pages.push(Buffer.from(page.join('').replaceAll('-', ''), 'hex'));
    }
  }

  *ids(): Generator<FileId> {
    for (const page of this.#pages)
      for (let at = 0; at < page.length; at += 16) {
        const hex = page.toString('hex', at, at + 16);
        yield [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
          '-',
        ) as FileId;
      }
  }
}

/** Returns the length of the file; `null` if it has no bytes. */
async function writeFile(writer: BackupWriter, fileStore: FileStore, id: FileId): Promise<number | null> {
  const file = await fileStore.open(id);
  if (file === null) return null;
  let length = 0;
  await writer.json('file', { id });
  for await (const chunk of file.createReadStream() as AsyncIterable<Buffer>) {
    await writer.data(chunk);
    length += chunk.length;
  }
  await writer.close();
  return length;
}
