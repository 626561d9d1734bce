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

/** Stores a visitor's SMS as their chat message. Repeating the same id has no effect. Runs in the transaction that claims the SMS. */
export async function putReply(sql: Sql, { visitorId, ...reply }: Reply): Promise<void> {
  if ((await findMessage(sql, reply)) !== null) return;
  const from = { kind: 'visitor', id: visitorId } as const;
  const textOnly = { attachment: null, metadata: null, chosen: null, files: null };
  const sent = await putMessage(sql, { ...reply, from, type: 'chat', ...textOnly });
  if (sent === null) throw new Refusal('engagement_ended', `The engagement ${reply.engagementId} has ended.`);
}

/** Acknowledges a message for the visitor, after the carrier reported its delivery to the phone. */
export async function acknowledgeForVisitor(
  sql: Sql,
  message: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly id: string },
): Promise<void> {
  await acknowledgeMessage(sql, { ...message, by: 'carrier' });
}
