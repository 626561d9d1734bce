import type { Sql } from '../../platform/database.ts';
import type { AccountId, EngagementId, VisitorId } from '../../platform/ids.ts';

/** What this room needs of chat messages: the wiring gives it. Both are called in a transaction, and may be repeated. */
export interface Chat {
  readonly putMessage: PutMessage;
  readonly acknowledgeMessage: AcknowledgeMessage;
}

/** A visitor's message; the same id again changes nothing. Refuses with `engagement_ended` where it is too late. */
export type PutMessage = (
  sql: Sql,
  message: {
    readonly accountId: AccountId;
    readonly engagementId: EngagementId;
    readonly id: string;
    readonly sender: { readonly kind: 'visitor'; readonly id: VisitorId };
    readonly content: string;
  },
) => Promise<void>;

/** A message has reached the visitor: told once, also after the engagement has ended. */
export type AcknowledgeMessage = (
  sql: Sql,
  message: { readonly accountId: AccountId; readonly engagementId: EngagementId; readonly id: string },
) => Promise<void>;
