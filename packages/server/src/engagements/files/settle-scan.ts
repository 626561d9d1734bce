import { appendEvent } from '../../events/append.ts';
import { inTransaction, type Sql } from '../../platform/database.ts';
import type { AccountId, EngagementId, FileId } from '../../platform/ids.ts';
import type { FileStore } from './file-store.ts';
import type { ScanResult } from './file.ts';
import { lockEngagement, markRemoved, writeScanResult } from './store.ts';

interface Scanned {
  readonly id: FileId;
  readonly engagementId: EngagementId;
  readonly result: ScanResult;
}

/**
 * Writes the result of a scan and its event, once for each file, however many have scanned it; then takes the bytes of an
 * infected one away. Answers whose file it was; `null` if it had a result already, or was deleted.
 */
export async function settleScan(
  sql: Sql,
  disk: FileStore,
  { id, engagementId, result }: Scanned,
): Promise<AccountId | null> {
  const accountId = await writeScan(sql, { id, engagementId, result });
  if (accountId !== null && result === 'infected') await removeBytes(sql, disk, id);
  return accountId;
}

/** The part of it that is the database's. */
export async function writeScan(sql: Sql, { id, engagementId, result }: Scanned): Promise<AccountId | null> {
  return inTransaction(sql, async (own) => {
    // The file before its engagement, as everybody who locks both.
    if (!(await writeScanResult(own, id, result))) return null;
    const engagement = await lockEngagement(own, engagementId);
    if (engagement === null) throw new Error('a file without an engagement');
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

/** What does not succeed here the sweep does again. */
export async function removeBytes(sql: Sql, disk: FileStore, id: FileId): Promise<void> {
  try {
    await disk.remove(id);
    await markRemoved(sql, id);
  } catch {
    // The disk has logged its part; a database that is away is logged by whoever asks it next.
  }
}
