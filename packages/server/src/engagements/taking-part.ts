import type { Piece, Sql } from '../platform/database.ts';
import type { AccountId, EngagementId } from '../platform/ids.ts';
import type { Party } from '../routing/board/answering.ts';

/** What statements inside an engagement have in common. They call the engagement `e`. */

/** Of engagements: it goes on, and that is the side's part in it. */
export function takesPart(sql: Sql, { kind, ...party }: Party) {
  if (kind === 'visitor') return sql`e.ended_at IS NULL AND e.visitor_id = ${party.id}`;
  const sites = 'onlyOn' in party && party.onlyOn !== undefined ? [...party.onlyOn] : null;
  return sites === null
    ? sql`e.ended_at IS NULL AND e.operator_id = ${party.id}`
    : sql`e.ended_at IS NULL AND e.operator_id = ${party.id} AND e.site_id = ANY(${sites}::uuid[])`;
}

/** An instant as events tell it. */
export const instant = (sql: Sql, at: Piece) => sql`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

interface EngagedRow {
  readonly subEngagementId: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly requestId: string;
  readonly ticketId: string | null;
  readonly heardBy: readonly string[];
}

/** The engagement's row, held until the transaction ends. `null`: it has ended, or the caller has no part in it. */
export async function lockEngaged(
  sql: Sql,
  accountId: AccountId,
  id: EngagementId,
  by: Party,
): Promise<EngagedRow | null> {
  const [row] = await sql<EngagedRow[]>`
    SELECT e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId", e.visitor_id AS "visitorId",
           e.operator_id AS "operatorId", e.request_id AS "requestId", e.ticket_id AS "ticketId",
           e.heard_by AS "heardBy"
      FROM engagements e
     WHERE e.id = ${id} AND e.account_id = ${accountId} AND ${takesPart(sql, by)}
       FOR NO KEY UPDATE`;
  return row ?? null;
}
