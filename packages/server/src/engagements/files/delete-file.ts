import { appendFeedItem, type About } from '../../events/append.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { FileId } from '../../platform/ids.ts';
import type { Party } from '../../identity/party.ts';
import type { EngagementRow } from '../engagement.ts';
import { engagementEnded } from '../permitted-engagement.ts';
import { findEngagement } from '../store.ts';
import { lockEngaged } from '../taking-part.ts';
import { fileState, type FileRow } from './file.ts';
import { lockEngagement, lockFile, markDeleted, markDeletedInMessages, type LockedEngagement } from './store.ts';

interface FileToDelete {
  readonly fileId: FileId;
  readonly engagement: EngagementRow;
  readonly by: Party;
  /** Managers may delete every file of their site. */
  readonly isManager: boolean;
}

interface Deletion {
  readonly before: FileRow;
  readonly after: FileRow;
}

/**
 * Deletes a file. The side that sent it may do so while the engagement is active, a manager of the site at any time. A file that is
 * deleted already does not change. The caller removes the bytes after the commit.
 *
 * The file is locked before its engagement, in the same order as by a message that names the file (messages/store.ts). So the
 * message either exists and is updated here, or is refused.
 */
export async function deleteFile(pool: Sql, { fileId, engagement, by, isManager }: FileToDelete): Promise<Deletion> {
  const { account_id: accountId, id: engagementId } = engagement;
  return inTransaction(pool, async (sql) => {
    const before = await lockFile(sql, { accountId, engagementId, id: fileId });
    if (before === null) throw notFound('file', fileId);
    if (!isManager && before.uploaded_by !== by.kind)
      throw new Refusal('forbidden', 'Only the side that sent the file, or a manager of the site, may delete it.');
    if (before.deleted) return { before, after: before };
    if (!isManager && (await lockEngaged(sql, accountId, engagementId, by)) === null)
      throw engagementEnded((await findEngagement(sql, accountId, engagementId)) ?? engagement);
    const locked = await lockEngagement(sql, engagementId);
    if (locked === null) throw new Error('the file has no engagement');
    const after = await markDeleted(sql, before, by.kind);
    await markDeletedInMessages(sql, after);
    await appendFeedItem(sql, fileState, {
      accountId,
      at: after.deleted_at,
      about: aboutEngagement(locked),
      data: after,
    });
    return { before, after };
  });
}

function aboutEngagement(engagement: LockedEngagement): About {
  return {
    siteId: engagement.site_id,
    ticketId: engagement.ticket_id,
    requestId: engagement.request_id,
    engagementId: engagement.id,
    visitorId: engagement.visitor_id,
    operatorId: engagement.operator_id,
  };
}
