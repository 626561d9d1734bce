import type { Sql } from '../../platform/database.ts';
import type { FileStore } from './file-store.ts';
import { removeBytes } from './settle-scan.ts';
import { knownFiles, listToRemove } from './store.ts';

/** Far longer than an upload may take. */
const leftoverAfterMs = 60 * 60_000;
const mostRemovals = 1_000;

/** Takes away what crashes have left: files without a row, marks of files that have one, bytes of infected and deleted ones. */
export async function sweepFiles(sql: Sql, disk: FileStore, now: Date): Promise<void> {
  const old = await disk.unsettled(new Date(now.getTime() - leftoverAfterMs));
  const known = await knownFiles(sql, old);
  for (const id of old) await (known.has(id) ? disk.settle(id) : disk.discard(id));
  for (const id of await listToRemove(sql, mostRemovals)) await removeBytes(sql, disk, id);
}
