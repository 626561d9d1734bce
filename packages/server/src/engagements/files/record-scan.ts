import { appendEvent } from '../../events/append.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, EngagementId, FileId } from '../../platform/ids.ts';
import type { FileStore } from './file-store.ts';
import type { ScanResult } from './file.ts';
import { lockEngagement, markRemoved, writeScanResult } from './store.ts';

interface ScanToSettle {
  readonly id: FileId;
  readonly engagementId: EngagementId;
  readonly result: ScanResult;
}

/**
 * Writes the result of a scan and its event, once per file even if several processes scanned it, and then removes the bytes of an
 * infected file. Returns the account; `null` if the file already had a result or was deleted.
 */
export async function recordScan(
  sql: Sql,
  fileStore: FileStore,
  { id, engagementId, result }: ScanToSettle,
): Promise<AccountId | null> {
  const accountId = await writeScan(sql, { id, engagementId, result });
  if (accountId !== null && result === 'infected') await removeBytes(sql, fileStore, id);
  return accountId;
}

/** The database part of `recordScan`. */
export async function writeScan(sql: Sql, { id, engagementId, result }: ScanToSettle): Promise<AccountId | null> {
  return inTransaction(sql, async (own) => {
    // The file is locked before its engagement; all code that locks both uses this order.
    if (!(await writeScanResult(own, id, result))) return null;
    const engagement = await lockEngagement(own, engagementId);
    if (engagement === null) throw new Error('the file has no engagement');
    await appendEvent(own, {
      accountId: engagement.account_id,
      type: 'engagement.files.security_scan_result',
      about: {
        siteId: engagement.site_id,
        engagementId,
        visitorId: engagement.visitor_id,
        operatorId: engagement.operator_id,
        subscribers: engagement.ended_at === null ? engagement.heard_by : [],
      },
      fields: { security_scan_result: { file_id: id, result } },
    });
    return engagement.account_id;
  });
}

/** Never rejects: the sweep retries what fails here. */
export async function removeBytes(sql: Sql, fileStore: FileStore, id: FileId): Promise<void> {
  try {
    await fileStore.remove(id);
    await markRemoved(sql, id);
  } catch {
    // The file store has logged its failure. An unavailable database is logged elsewhere.
  }
}
