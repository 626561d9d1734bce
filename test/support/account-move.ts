import { createReadStream, createWriteStream } from 'node:fs';
import {
  exportAccount,
  type ExportSummary,
  type WhatToExport,
} from '../../packages/server/src/account-moving/export-account.ts';
import { importAccount, type ImportSummary } from '../../packages/server/src/account-moving/import-account.ts';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import { openDatabase } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import type { BackupTarget } from './database/backup.ts';
import type { TestServer } from './server.ts';

const quiet = { onProgress: () => undefined };

/** As `usher accounts export`. */
export async function exportFrom(
  { address, dataDir }: BackupTarget,
  { id, file, what = { part: 'move' }, signal = new AbortController().signal }: Export,
): Promise<ExportSummary> {
  const database = openDatabase(address, 1);
  try {
    return await exportAccount({
      database,
      fileStore: new FileDisk(dataDir, createLog('silent')),
      account: { id: id as AccountId, name: 'moved' },
      what,
      hasFiles: true,
      to: createWriteStream(file),
      keep: async () => undefined,
      signal,
      ...quiet,
    });
  } finally {
    await database.close();
  }
}

interface Export {
  readonly id: string;
  readonly file: string;
  readonly what?: WhatToExport;
  readonly signal?: AbortSignal;
}

/** As `usher accounts import`. */
export async function importInto({ address, dataDir }: BackupTarget, file: string): Promise<ImportSummary> {
  const database = openDatabase(address, 1);
  try {
    const fileStore = new FileDisk(dataDir, createLog('silent'));
    const { signal } = new AbortController();
    return await importAccount({ database, fileStore, from: createReadStream(file), signal, ...quiet });
  } finally {
    await database.close();
  }
}

export async function accountOf({ database }: TestServer, siteId: string): Promise<AccountId> {
  const [site] = await database.sql<{ id: AccountId }[]>`SELECT account_id AS id FROM sites WHERE id = ${siteId}`;
  if (site === undefined) throw new Error(`there is no site ${siteId}`);
  return site.id;
}
