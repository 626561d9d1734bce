import type { Sql } from '../../platform/database.ts';
import type { FileStore } from './file-store.ts';
import { removeBytes } from './settle-scan.ts';
import { filesWithRow, listToRemove } from './store.ts';

/** Much longer than an upload may take. */
const leftoverAfterMs = 60 * 60_000;
const maxRemovals = 1_000;

/** Removes leftovers of crashes: files without a row, marks of files with a row, and bytes of infected and deleted files. */
export async function sweepFiles(sql: Sql, fileStore: FileStore, now: Date): Promise<void> {
  const old = await fileStore.unsettled(new Date(now.getTime() - leftoverAfterMs));
  const withRow = await filesWithRow(sql, old);
  for (const id of old) await (withRow.has(id) ? fileStore.settle(id) : fileStore.discard(id));
  for (const id of await listToRemove(sql, maxRemovals)) await removeBytes(sql, fileStore, id);
}
