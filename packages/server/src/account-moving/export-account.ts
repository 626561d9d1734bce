import { writeBackup, type BackupOptions, type BackupSummary } from '../backup/write-backup.ts';
import { connect } from '../platform/database/database.ts';
import { commandPools } from '../platform/database/pools.ts';
import type { AccountId } from '../platform/ids.ts';
import { clusterTables, ownRows } from './own-rows.ts';
import { resumeAccount, stopAccount } from './prepare-move.ts';
import { describeInstallation } from './source-store.ts';

interface ExportOptions extends Omit<BackupOptions, 'part'> {
  readonly account: { readonly id: AccountId; readonly name: string };
  /** Stop the account first, so that another installation can go on with it. Otherwise the export is a copy, as of one instant. */
  readonly isMove: boolean;
  readonly hasFiles: boolean;
  /** Makes the export permanent. */
  readonly keep: () => Promise<void>;
}

/** Writes an account. If it is to be moved and this fails, the account goes on here. */
export async function exportAccount({
  account,
  isMove,
  hasFiles,
  keep,
  ...options
}: ExportOptions): Promise<BackupSummary> {
  const { database, signal } = options;
  const pool = connect(database.address, commandPools.backup);
  try {
    if (isMove) await stopAccount(pool, account.id, signal);
    try {
      const source = await describeInstallation(pool);
      const summary = await writeBackup({
        ...options,
        part: {
          header: { format: 'account', account: { id: account.id, name: account.name, ...source, isMoving: isMove } },
          rowsOf: ({ name, parent }) => rowsOf(parent ?? name, account.id),
          hasFiles,
        },
      });
      await keep();
      return summary;
    } catch (error) {
      if (isMove) await resumeAccount(pool, account.id);
      throw error;
    }
  } finally {
    await pool.end({ timeout: 0 });
  }
}

function rowsOf(table: string, accountId: AccountId): string | null {
  return clusterTables.has(table) ? null : ownRows(table, accountId);
}
