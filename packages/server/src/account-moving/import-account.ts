import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BackedUpTable, BackupHeader, ExportedAccount } from '../backup/format.ts';
import { readBackup } from '../backup/read-backup.ts';
import { RestoredFiles } from '../backup/restored-files.ts';
import { appliedMigrations, liftTransactionTimeout, makePartitions } from '../backup/store.ts';
import { countRows, type Progress } from '../backup/write-backup.ts';
import type { FileStore } from '../engagements/files/file-store.ts';
import { connect, databaseErrorCode, type Database, type Sql } from '../platform/database/database.ts';
import { commandPools } from '../platform/database/pools.ts';
import { StartError } from '../platform/errors.ts';
import { isUuid, type FileId } from '../platform/ids.ts';
import { makeSource } from './changed-columns.ts';
import {
  announce,
  copyAside,
  countAsOutage,
  deleteHistoryAccount,
  findImported,
  insertFrom,
  insertHistoryAccount,
  passEventNumbers,
  suspendTriggers,
} from './import-store.ts';
import { clusterTables } from './own-rows.ts';
import { addKeys } from './source-store.ts';

interface ImportOptions {
  readonly database: Database;
  readonly fileStore: FileStore;
  readonly from: Readable;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

export interface ImportSummary {
  readonly id: string;
  readonly name: string;
  readonly part: ExportedAccount['part'];
  readonly rows: number;
  readonly files: number;
  /** How long nothing could change in the account, in milliseconds; `null`: it was a copy. */
  readonly awayMs: number | null;
}

/**
 * Adds an exported account to an installation that is in use, in one transaction: all of it or nothing. From the commit on this
 * installation works for the account.
 */
export async function importAccount({
  database,
  fileStore,
  from,
  signal,
  onProgress,
}: ImportOptions): Promise<ImportSummary> {
  // One connection for the transaction, and one for the partitions.
  const pool = connect(database.address, { ...commandPools.backup, max: 2 });
  const stop = (): void => void pool.end({ timeout: 0 });
  signal.addEventListener('abort', stop);
  const files = new RestoredFiles(fileStore);
  let mayBeCommitted = false;
  try {
    await liftTransactionTimeout(pool);
    const { account, rows } = await pool.begin(async (sql) => {
      const load = new AccountLoad({ sql, pool, files, onProgress });
      await readBackup({ from, format: 'account', signal }, load);
      const loaded = await load.finish();
      mayBeCommitted = true;
      return loaded;
    });
    await files.confirm();
    const { id, name, part, takenAt } = account;
    const awayMs = part === 'move' || part === 'rest' ? Math.max(0, Date.now() - takenAt) : null;
    return { id, name, part, rows, files: files.count, awayMs };
  } catch (error) {
    // If the connection is lost during the COMMIT, its outcome is unknown. The sweep keeps the files that have a row.
    if (!mayBeCommitted) await files.discard();
    signal.throwIfAborted();
    throw describe(error);
  } finally {
    signal.removeEventListener('abort', stop);
    from.destroy();
    await pool.end({ timeout: 0 });
  }
}

interface LoadContext {
  readonly sql: Sql;
  /** For partitions, which are created in transactions of their own: each locks a whole log for a moment. */
  readonly pool: Sql;
  readonly files: RestoredFiles;
  readonly onProgress: (progress: Progress) => void;
}

class AccountLoad {
  readonly #context: LoadContext;
  #account: ExportedAccount | null = null;
  #tables = 0;
  #rows = 0;
  #bytes = 0;

  constructor(context: LoadContext) {
    this.#context = context;
  }

  async header({ account, migrations, usher, tables }: BackupHeader): Promise<void> {
    const { sql, pool } = this.#context;
    if (account === undefined || !isUuid(account.id))
      throw new StartError('The file names no account. Export the account again.');
    const own = await appliedMigrations(sql);
    if (migrations.join() !== own.join())
      throw new StartError(
        `The account comes from schema version ${migrations.length} (Usher ${usher}), and this database has version ${own.length}. Bring both installations to the same version of Usher, and export the account again.`,
      );
    await makePartitions(pool, tables);
    await suspendTriggers(sql);
    await prepareFor(sql, account);
    await sql.unsafe(makeSource(account));
    this.#account = account;
  }

  async table(table: BackedUpTable, rows: AsyncGenerator<Buffer, void>): Promise<void> {
    const { sql } = this.#context;
    const accountId = this.#account?.id;
    if (accountId === undefined) throw new Error('an export was read without its header');
    if (clusterTables.has(table.parent ?? table.name))
      throw new StartError(`The file has rows that belong to no account (${table.name}). Nothing was imported.`);
    this.#tables += 1;
    const aside = `moving_${this.#tables}`;
    await pipeline(this.#counted(table.name, rows), await copyAside(sql, table, aside));
    await insertFrom(sql, table, { aside, accountId });
  }

  async sequences(): Promise<void> {
    throw new StartError('The file has sequences, which no account has. Export the account again.');
  }

  async file(id: FileId, bytes: AsyncGenerator<Buffer, void>): Promise<void> {
    await this.#context.files.store(id, this.#counted('files', bytes));
  }

  async finish(): Promise<{ readonly account: ExportedAccount; readonly rows: number }> {
    const { sql } = this.#context;
    const account = this.#account;
    if (account === null) throw new Error('an export was read without its header');
    if (account.part !== 'history') await addKeys(sql, account);
    await passEventNumbers(sql, account.id);
    if (account.part !== 'history') await countAsOutage(sql, account);
    await announce(sql);
    return { account, rows: this.#rows };
  }

  async *#counted(at: string, body: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
    for await (const chunk of body) {
      this.#bytes += chunk.length;
      if (at !== 'files') this.#rows += countRows(chunk);
      this.#context.onProgress({ at, bytes: this.#bytes, totalBytes: null });
      yield chunk;
    }
  }
}

/**
 * An account whose history was imported has a row of its own, disabled, which says where the history ends and what the other clock showed
 * then. The rest must fit: it begins there, and the clock was not set in between.
 */
async function prepareFor(sql: Sql, { id, name, part, boundary, shiftMs }: ExportedAccount): Promise<void> {
  const present = await findImported(sql, id);
  if (part === 'history') {
    if (present !== null) throw alreadyHere(name, id);
    await insertHistoryAccount(sql, { id, name, boundary, shiftMs });
  } else if (part === 'rest') {
    if (present?.isHistory !== true || present.boundary !== boundary)
      throw new StartError(
        `The file has account "${name}" without its history before ${new Date(boundary ?? 0).toISOString()}. Import that history first.`,
      );
    if (present.shiftMs !== shiftMs)
      throw new StartError(
        `The clock of the other database was set since the history was exported. Delete the history here (usher accounts delete ${id}), and export the account there without --since.`,
      );
    await deleteHistoryAccount(sql, id);
  } else if (present !== null) throw alreadyHere(name, id);
}

function alreadyHere(name: string, id: string): StartError {
  return new StartError(`This installation already has account "${name}" (${id}), or its history.`);
}

function describe(error: unknown): unknown {
  const code = databaseErrorCode(error);
  if (code === '23505')
    return new StartError(
      `Another account of this installation already has something that must be unique (${detailOf(error)}). Nothing was imported.`,
      { cause: error },
    );
  if (code === '42501')
    return new StartError(
      'The database user lacks rights. It must own the tables, and be a superuser or have: GRANT SET ON PARAMETER session_replication_role',
      { cause: error },
    );
  return error;
}

function detailOf(error: unknown): string {
  return error instanceof Error && 'detail' in error ? String(error.detail) : String(error);
}
