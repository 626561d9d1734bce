import type { Sql } from '../../platform/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { AccountId, EngagementId, VisitorId } from '../../platform/ids.ts';
import { acknowledgeMessage, findMessage, putMessage } from '../messages/store.ts';

interface Reply {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  readonly visitorId: VisitorId;
  readonly content: string;
}

/** A visitor's SMS is its message; the same id again changes nothing. In a transaction that took the SMS for itself. */
export async function putReply(sql: Sql, { visitorId, ...reply }: Reply): Promise<void> {
  if ((await findMessage(sql, reply)) !== null) return;
  const from = { kind: 'visitor', id: visitorId } as const;
  const nothing = { attachment: null, metadata: null, chosen: null, files: null };
  const sent = await putMessage(sql, { ...reply, from, type: 'chat', ...nothing });
  if (sent === null) throw new Refusal('engagement_ended', `The engagement ${reply.engagementId} has ended.`);
}

/** The carrier says that a message has reached the visitor's phone. */
export async function noteArrival(
  sql: Sql,
  message: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly id: string },
): Promise<void> {
  await acknowledgeMessage(sql, { ...message, by: 'carrier' });
}
