import type { Sql } from '../../platform/database/database.ts';
import { Refusal } from '../../platform/errors.ts';
import type { AccountId, EngagementId, VisitorId } from '../../platform/ids.ts';
import {
  acknowledgeMessages,
  findMessage,
  putMessages,
  type Acknowledgement,
  type NewMessage,
} from '../messages/store.ts';
import { writeAlone } from '../writes.ts';

interface Reply {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly id: string;
  readonly visitorId: VisitorId;
  readonly content: string;
}

/** Stores a visitor's SMS as their chat message. Repeating the same id has no effect. Runs in the transaction that claims the SMS. */
export async function putReply(sql: Sql, { visitorId, ...reply }: Reply): Promise<void> {
  const by = { kind: 'visitor', id: visitorId } as const;
  const message: NewMessage = { ...reply, by, type: 'chat', attachment: null, metadata: null };
  const stored = (await writeAlone(sql, message, putMessages)) ?? (await findMessage(sql, reply));
  if (stored === null) throw new Refusal('engagement_ended', `The engagement ${reply.engagementId} has ended.`);
}

/** Acknowledges a message for the visitor, after the carrier reported its delivery to the phone. */
export async function acknowledgeForVisitor(
  sql: Sql,
  message: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly id: string },
): Promise<void> {
  const acknowledgement: Acknowledgement = { ...message, by: { kind: 'carrier' } };
  await writeAlone(sql, acknowledgement, acknowledgeMessages);
}
