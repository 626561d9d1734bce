import { writeBackup, type BackupOptions, type BackupSummary } from '../backup/write-backup.ts';
import { connect } from '../platform/database/database.ts';
import { commandPools } from '../platform/database/pools.ts';
import type { AccountId } from '../platform/ids.ts';
import { clusterTables, ownRows, partOfRows, type HistoryPart } from './own-rows.ts';
import { resumeAccount, stopAccount } from './prepare-move.ts';
import { describeInstallation } from './source-store.ts';

interface ExportOptions extends Omit<BackupOptions, 'part'> {
  readonly account: { readonly id: AccountId; readonly name: string };
  readonly what: WhatToExport;
  readonly hasFiles: boolean;
  /** Makes the export permanent. */
  readonly keep: () => Promise<void>;
}

/** `boundary`, in epoch milliseconds: of the history that was exported before. */
export type WhatToExport =
  { readonly part: 'copy' | 'move' | 'history' } | { readonly part: 'rest'; readonly boundary: number };

/** No transaction and no request lasts so long: what is older is there, and its conversations have ended. */
const settledMs = 3_600_000;

/** Writes an account, or a part of it. If it is to be moved and this fails, the account goes on here. */
export async function exportAccount({
  account,
  what,
  hasFiles,
  keep,
  ...options
}: ExportOptions): Promise<ExportSummary> {
  const { database, signal } = options;
  const { id, name } = account;
  const pool = connect(database.address, commandPools.backup);
  const isMove = what.part === 'move' || what.part === 'rest';
  try {
    if (isMove) await stopAccount(pool, id, signal);
    try {
      const source = await describeInstallation(pool);
      const half = halfOf(what, source.takenAt);
      const boundary = half?.boundary ?? null;
      const summary = await writeBackup({
        ...options,
        part: {
          header: { format: 'account', account: { id, name, ...source, part: what.part, boundary } },
          rowsOf: ({ name: table, parent }) => rowsOf(parent ?? table, id, half),
          hasFiles: hasFiles && what.part !== 'history',
        },
      });
      await keep();
      return { ...summary, boundary };
    } catch (error) {
      if (isMove) await resumeAccount(pool, id);
      throw error;
    }
  } finally {
    await pool.end({ timeout: 0 });
  }
}

export interface ExportSummary extends BackupSummary {
  readonly boundary: number | null;
}

function halfOf(what: WhatToExport, now: number): HistoryPart | null {
  if (what.part === 'rest') return what;
  if (what.part === 'history') return { part: 'history', boundary: Math.floor(now - settledMs) };
  return null;
}

function rowsOf(table: string, accountId: AccountId, half: HistoryPart | null): string | null {
  if (clusterTables.has(table)) return null;
  return half === null ? ownRows(table, accountId) : partOfRows(table, accountId, half);
}
