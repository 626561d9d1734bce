import type { FileStore } from '../engagements/files/file-store.ts';
import { inBatches } from '../platform/database/batches.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId, SiteId } from '../platform/ids.ts';
import { deleteEngagementsOfSite } from '../site-deletion/belongings.ts';
import { boardBatch, keyTables, leafTables } from './own-tables.ts';
import { deleteAccountRow, deleteDeliveries, deleteRows, detachFallbacks, forOwners } from './store.ts';

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
 * Deletes everything of a disabled account, in batches by index, so that neither the size of the account nor that of others makes a
 * statement long. Nobody can call the account and nothing of it becomes due, so no server writes rows of it meanwhile, apart from
 * the outcomes of deliveries. Rows are deleted before those that they are found by, and the account's own row last: interrupted work
 * is continued by repeating it.
 */
export async function deleteAccount({ sql, fileStore, accountId }: AccountDeletion): Promise<DeletedRows> {
  const deleted = { rows: 0, files: 0 };
  const count = (rows: number, files = 0): void => {
    deleted.rows += rows;
    deleted.files += files;
  };
  const shouldContinue = (): boolean => true;
  for (const table of leafTables) count(await deleteRows(sql, table, accountId));
  count(await deleteDeliveries(sql, accountId));
  await forOwners(sql, { of: 'site', accountId }, async (sites) => {
    for (const siteId of sites as SiteId[])
      await inBatches(
        async () => deleteEngagementsOfSite(sql, fileStore, { siteId, shouldContinue, onDeleted: count }),
        shouldContinue,
      );
  });
  await detachFallbacks(sql, accountId, boardBatch);
  for (const table of keyTables) count(await deleteRows(sql, table, accountId));
  await deleteAccountRow(sql, accountId);
  return deleted;
}
