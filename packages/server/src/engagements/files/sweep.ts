import { batchSize, inBatches, type ShouldContinue } from '../../platform/database/batches.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { FileId } from '../../platform/ids.ts';
import type { FileStore } from './file-store.ts';
import { removeBytes } from './record-scan.ts';
import { filesWithRow, listToRemove } from './store.ts';

/** Much longer than an upload may take. */
const leftoverAfterMs = 60 * 60_000;

/** Removes leftovers of crashes: files without a row, marks of files with a row, and bytes of infected and deleted files. */
export async function sweepFiles(
  sql: Sql,
  fileStore: FileStore,
  now: Date,
  shouldContinue: ShouldContinue,
): Promise<void> {
  const old = await fileStore.unconfirmed(new Date(now.getTime() - leftoverAfterMs));
  let from = 0;
  await inBatches(async () => {
    const batch = old.slice(from, from + batchSize);
    const withRow = await filesWithRow(sql, batch);
    for (const id of batch) await (withRow.has(id) ? fileStore.confirm(id) : fileStore.discard(id));
    from += batchSize;
    return from < old.length;
  }, shouldContinue);
  // Files that cannot be removed now are not tried again in this sweep.
  let after: FileId | null = null;
  await inBatches(async () => {
    const batch: readonly FileId[] = await listToRemove(sql, after, batchSize);
    for (const id of batch) await removeBytes(sql, fileStore, id);
    after = batch.at(-1) ?? null;
    return batch.length === batchSize;
  }, shouldContinue);
}
