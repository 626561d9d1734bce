import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ensureSigningKey } from '../identity/signing-keys.ts';
import type { FileStore } from '../engagements/files/file-store.ts';
import { connect, type Database, type Sql } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import type { FileId } from '../platform/ids.ts';
import { createSchema, knownMigrations, migrate } from '../platform/database/migrations/migrations.ts';
import { commandPools } from '../platform/database/pools.ts';
import type { BackedUpTable, BackupHeader, SequenceValue } from './format.ts';
import { readBackup } from './read-backup.ts';
import { RestoredFiles } from './restored-files.ts';
import {
  analyze,
  copyIn,
  finishLoad,
  liftTransactionTimeout,
  makePartitions,
  prepareLoad,
  writeSequence,
  type LoadUndo,
} from './store.ts';
import { countRows, type Progress } from './write-backup.ts';

export interface RestoreOptions {
  readonly database: Database;
  readonly fileStore: FileStore;
  readonly from: Readable;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

export interface RestoreSummary {
  readonly tables: number;
  readonly rows: number;
  readonly files: number;
  /** The version of Usher and the schema of the backup. */
  readonly usher: string;
  readonly schema: number;
  readonly created_at: string;
}

/**
 * Restores a backup into an empty database, in one transaction: schema, rows and sequences are committed after the checksum was
 * compared, or nothing is. Files are stored before the commit with the mark of an incoming file, and removed if it fails; if the
 * process is killed, the sweep of the next server removes those without a row.
 */
export async function restoreBackup({
  database,
  fileStore,
  from,
  signal,
  onProgress,
}: RestoreOptions): Promise<RestoreSummary> {
  const pool = connect(database.address, commandPools.backup);
  const stop = (): void => void pool.end({ timeout: 0 });
  signal.addEventListener('abort', stop);
  const files = new RestoredFiles(fileStore);
  let mayBeCommitted = false;
  try {
    await liftTransactionTimeout(pool);
    const summary = await pool.begin(async (sql) => {
      const load = new Load(sql, files, onProgress);
      const header = await readBackup({ from, format: 'backup', signal }, load);
      await load.finish();
      mayBeCommitted = true;
      const { usher, migrations, created_at } = header;
      return { ...load.counts(), usher, schema: migrations.length, created_at };
    });
    await files.confirm();
    // The database is restored now. What follows is repeated by the next start if it fails.
    await migrate(database, ensureSigningKey);
    await analyze(pool);
    return summary;
  } catch (error) {
    // If the connection is lost during the COMMIT, its outcome is unknown. The sweep keeps the files that have a row.
    if (!mayBeCommitted) await files.discard();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    from.destroy();
    await pool.end({ timeout: 0 });
  }
}

class Load {
  readonly #sql: Sql;
  readonly #files: RestoredFiles;
  readonly #onProgress: (progress: Progress) => void;
  #undo: LoadUndo = [];
  #tables = 0;
  #rows = 0;
  #bytes = 0;

  constructor(sql: Sql, files: RestoredFiles, onProgress: (progress: Progress) => void) {
    this.#sql = sql;
    this.#files = files;
    this.#onProgress = onProgress;
  }

  async header({ migrations, usher, tables }: BackupHeader): Promise<void> {
    const known = (await knownMigrations()).map(({ file }) => file);
    if (migrations.length > known.length)
      throw new StartError(
        `The backup has schema version ${migrations.length} and was made by Usher ${usher}; this Usher knows versions up to ${known.length}. Restore it with that version of Usher or a newer one.`,
      );
    const other = migrations.find((file, index) => file !== known[index]);
    if (other !== undefined)
      throw new StartError(
        `The backup was made by another variant of Usher: this one has no migration ${other}. Restore it with the Usher that made it.`,
      );
    await createSchema(this.#sql, migrations.length);
    this.#undo = await prepareLoad(this.#sql);
    await makePartitions(this.#sql, tables);
  }

  async table(table: BackedUpTable, rows: AsyncGenerator<Buffer, void>): Promise<void> {
    this.#tables += 1;
    await pipeline(this.#counted(table.name, rows), await copyIn(this.#sql, table));
  }

  async sequences(values: readonly SequenceValue[]): Promise<void> {
    for (const value of values) await writeSequence(this.#sql, value);
  }

  async file(id: FileId, bytes: AsyncGenerator<Buffer, void>): Promise<void> {
    await this.#files.store(id, this.#counted(null, bytes));
  }

  async finish(): Promise<void> {
    await finishLoad(this.#sql, this.#undo);
  }

  counts(): { readonly tables: number; readonly rows: number; readonly files: number } {
    return { tables: this.#tables, rows: this.#rows, files: this.#files.count };
  }

  /** `table` is `null` for a file. */
  async *#counted(table: string | null, body: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
    for await (const chunk of body) {
      this.#bytes += chunk.length;
      if (table !== null) this.#rows += countRows(chunk);
      this.#onProgress({ at: table ?? 'files', bytes: this.#bytes, totalBytes: null });
      yield chunk;
    }
  }
}
