import { hasSubscriber } from '../../events/subscribers.ts';
import type { Sql } from '../../platform/database.ts';
import type { AccountId, EngagementId } from '../../platform/ids.ts';
import type { Party } from '../../routing/board/rules/answering.ts';
import { takesPart } from '../taking-part.ts';

export type TypingType = `engagement.chat.typing_indicator.${Party['kind']}`;

export interface Stroke {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
  readonly by: Party;
  readonly type: TypingType;
}

interface Begun {
  readonly clock: number;
  readonly subEngagementId: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly requestId: string;
  readonly ticketId: string | null;
  /** A webhook asks for it. */
  readonly wanted: boolean;
}

/**
 * D8.11: a sequence grows for all processes and gives no value twice, and taking the next one writes nothing most of the
 * time. `null` where the caller has no part in it.
 */
export async function beginStroke(sql: Sql, { accountId, engagementId, by, type }: Stroke): Promise<Begun | null> {
  const [row] = await sql<Begun[]>`
    SELECT nextval('typing_clock')::float8 AS clock, e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId",
           e.visitor_id AS "visitorId", e.operator_id AS "operatorId", e.request_id AS "requestId",
           e.ticket_id AS "ticketId", ${hasSubscriber(sql, type)} AS wanted
      FROM engagements e
     WHERE e.id = ${engagementId} AND e.account_id = ${accountId} AND ${takesPart(sql, by)}`;
  return row ?? null;
}

export async function nextClock(sql: Sql): Promise<number> {
  const [next] = await sql<{ clock: number }[]>`SELECT nextval('typing_clock')::float8 AS clock`;
  if (next === undefined) throw new Error('a sequence without a value');
  return next.clock;
}
