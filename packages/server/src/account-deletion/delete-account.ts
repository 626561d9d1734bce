import type { FileStore } from '../engagements/files/file-store.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { deleteAccountRow, deleteRows, detachFallbacks, filesOfAccount, tablesOfAccounts } from './store.ts';

interface AccountDeletion {
  readonly sql: Sql;
  readonly fileStore: FileStore;
  readonly accountId: AccountId;
}

export interface DeletedRows {
  readonly rows: number;
  readonly files: number;
}

/**
 * Deletes everything of a disabled account, in batches. Nobody can call it and nothing of it becomes due, so no server writes rows of it
 * meanwhile. The account's own row is deleted last: interrupted work is continued by repeating it.
 */
export async function deleteAccount({ sql, fileStore, accountId }: AccountDeletion): Promise<DeletedRows> {
  const files = await filesOfAccount(sql, accountId);
  for (const id of files) await fileStore.discard(id);
  await detachFallbacks(sql, accountId);
  const tables = await tablesOfAccounts(sql);
  let rows = 0;
  // Deleting rows makes triggers write others, such as what processes must know of a deleted queue. The next pass finds them.
  for (let last = -1; last !== 0; rows += last) {
    last = 0;
    for (const table of tables) last += await deleteRows(sql, table, accountId);
  }
  await deleteAccountRow(sql, accountId);
  return { rows, files: files.length };
}
