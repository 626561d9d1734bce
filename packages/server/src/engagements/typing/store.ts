import { hasSubscriber } from '../../events/subscriptions/subscribers.ts';
import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { Party } from '../../identity/party.ts';
import { takesPart } from '../taking-part.ts';

export type TypingType = `engagement.chat.typing_indicator.${Party['kind']}`;

export interface NewIndication {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly by: Party;
  readonly type: TypingType;
}

interface StartedIndication {
  readonly clock: number;
  readonly subEngagementId: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly requestId: string;
  readonly ticketId: string | null;
  /** Whether a webhook subscribes to the event type. */
  readonly hasSubscriber: boolean;
}

/**
 * D8.11: the clock is a sequence, which grows across processes and never repeats a value; `nextval` rarely writes to the log.
 * `null`: the caller does not take part in the engagement.
 */
export async function startIndication(
  sql: Sql,
  { accountId, engagementId, by, type }: NewIndication,
): Promise<StartedIndication | null> {
  const [row] = await sql<StartedIndication[]>`
    SELECT nextval('typing_clock')::float8 AS clock, e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId",
           e.visitor_id AS "visitorId", e.operator_id AS "operatorId", e.request_id AS "requestId",
           e.ticket_id AS "ticketId", ${hasSubscriber(sql, type)} AS "hasSubscriber"
      FROM engagements e
     WHERE e.id = ${engagementId} AND e.account_id = ${accountId} AND ${takesPart(sql, by)}`;
  return row ?? null;
}
