import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { restoreBackup, type RestoreSummary } from '../../../packages/server/src/backup/restore-backup.ts';
import { writeBackup, type BackupSummary } from '../../../packages/server/src/backup/write-backup.ts';
import { FileDisk } from '../../../packages/server/src/engagements/files/disk.ts';
import {
  connect,
  openDatabase,
  type DatabaseAddress,
} from '../../../packages/server/src/platform/database/database.ts';
import type { FileId } from '../../../packages/server/src/platform/ids.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { pathOnDisk } from '../people/files.ts';

export interface BackupTarget {
  readonly address: DatabaseAddress;
  /** The folder of the uploaded files. */
  readonly dataDir: string;
}

const quiet = { signal: new AbortController().signal, onProgress: () => undefined };

export async function backUp({ address, dataDir }: BackupTarget, file: string): Promise<BackupSummary> {
  const database = openDatabase(address, 1);
  try {
    const fileStore = new FileDisk(dataDir, createLog('silent'));
    return await writeBackup({ database, fileStore, to: createWriteStream(file), ...quiet });
  } finally {
    await database.close();
  }
}

export async function restoreFrom({ address, dataDir }: BackupTarget, from: string | Buffer): Promise<RestoreSummary> {
  const database = openDatabase(address, 1);
  try {
    const fileStore = new FileDisk(dataDir, createLog('silent'));
    const stream = typeof from === 'string' ? createReadStream(from) : Readable.from([from]);
    return await restoreBackup({ database, fileStore, from: stream, ...quiet });
  } finally {
    await database.close();
  }
}

/** The rows of all tables, as text and in a fixed order. Those that only their cluster understands are left out. */
export async function contentsOf(address: DatabaseAddress): Promise<Readonly<Record<string, readonly string[]>>> {
  return withSql(address, async (sql) => {
    const tables = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
         AND relname <> 'log_epoch_begun'
       ORDER BY relname`;
    const found: Record<string, readonly string[]> = {};
    for (const { name } of tables) {
      const rows = await sql<{ row: string }[]>`SELECT t::text AS row FROM ${sql(name)} t ORDER BY t::text COLLATE "C"`;
      found[name] = rows.map(({ row }) => row);
    }
    const sequences = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'`;
    for (const { name } of sequences) {
      const [value] = await sql<{ row: string }[]>`SELECT last_value || ' ' || is_called AS row FROM ${sql(name)}`;
      found[name] = [value?.row ?? ''];
    }
    return found;
  });
}

export async function withSql<T>(
  address: DatabaseAddress,
  run: (sql: ReturnType<typeof connect>) => Promise<T>,
): Promise<T> {
  const sql = connect(address, { max: 1 });
  try {
    return await run(sql);
  } finally {
    await sql.end();
  }
}

/** A row for a file, and its bytes unless they are `null`. */
export async function addFile({ address, dataDir }: BackupTarget, bytes: string | Buffer | null): Promise<FileId> {
  const id = randomUUID() as FileId;
  await withSql(
    address,
    async (sql) => sql`
      INSERT INTO files (id, account_id, engagement_id, uploaded_by, uploader_id, name, content_type, bytes, sha256, state,
                         scan_due_at, created_at)
      VALUES (${id}, ${id}, ${id}, 'visitor', ${id}, 'a.txt', 'text/plain', 1, ${Buffer.alloc(32)}, 'clean', now(), now())`,
  );
  if (bytes !== null) putBytes(dataDir, id, bytes);
  return id;
}

export function putBytes(dataDir: string, id: FileId, bytes: string | Buffer): void {
  mkdirSync(dirname(pathOnDisk(dataDir, id)), { recursive: true });
  writeFileSync(pathOnDisk(dataDir, id), bytes);
}

/** The number of tables and sequences. */
export async function tablesOf(address: DatabaseAddress): Promise<number> {
  const rows = await withSql(
    address,
    async (sql) => sql`SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S')`,
  );
  return rows.length;
}
