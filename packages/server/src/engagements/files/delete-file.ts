import { atLeast } from '@usher/contract/roles';
import type { FastifyRequest } from 'fastify';
import { appendFeedItem, type About } from '../../events/append.ts';
import { accountOf, permitAs } from '../../identity/access.ts';
import { inTransaction } from '../../platform/database.ts';
import { notFound, Refusal } from '../../platform/errors.ts';
import type { EngagementId, FileId } from '../../platform/ids.ts';
import type { EngagementRow } from '../engagement.ts';
import { partyOf } from '../party.ts';
import { engagementEnded, permittedEngagement } from '../permitted-engagement.ts';
import { findEngagement } from '../store.ts';
import { lockEngaged } from '../taking-part.ts';
import { fileState, type FileRow } from './file.ts';
import { lockEngagement, lockFile, markDeleted, showAsDeleted, type LockedEngagement } from './store.ts';

interface FileParams {
  readonly engagement_id: EngagementId;
  readonly file_id: FileId;
}

interface Deletion {
  readonly before: FileRow;
  readonly after: FileRow;
}

/**
 * Deletes a file: by the side that sent it while the engagement goes on, or by a manager of the site at any time. What was
 * deleted before stays as it is. The caller removes the bytes after the commit.
 *
 * The file is locked before its engagement: a message that names the file does the same (messages/store.ts). So either the
 * message is there, and is changed here, or it is refused.
 */
export async function deleteFile(request: FastifyRequest, { engagement_id, file_id }: FileParams): Promise<Deletion> {
  const accountId = accountOf(request);
  const by = partyOf(request);
  const { engagement, isManager } = await engagementOf(request, engagement_id);
  return inTransaction(request.sql, async (sql) => {
    const before = await lockFile(sql, { accountId, engagementId: engagement_id, id: file_id });
    if (before === null) throw notFound('file', file_id);
    if (!isManager && before.uploaded_by !== by.kind)
      throw new Refusal('forbidden', 'Only the side that sent a file may delete it, or a manager of the site.');
    if (before.deleted) return { before, after: before };
    if (!isManager && (await lockEngaged(sql, accountId, engagement_id, by)) === null)
      throw engagementEnded((await findEngagement(sql, accountId, engagement_id)) ?? engagement);
    const locked = await lockEngagement(sql, engagement_id);
    if (locked === null) throw new Error('a file without an engagement');
    const after = await markDeleted(sql, before, by.kind);
    await showAsDeleted(sql, after);
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

async function engagementOf(
  request: FastifyRequest,
  id: EngagementId,
): Promise<{ readonly engagement: EngagementRow; readonly isManager: boolean }> {
  const { caller } = request;
  const found = await findEngagement(request.sql, accountOf(request), id);
  const role = found === null || caller.kind !== 'operator' ? undefined : caller.roles.get(found.site_id);
  if (found === null || role === undefined || !atLeast(role, 'manager'))
    return { engagement: await permittedEngagement(request, id), isManager: false };
  permitAs(request, 'sent it or manages');
  return { engagement: found, isManager: true };
}
