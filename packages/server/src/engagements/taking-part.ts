import { piece, type Piece, type Sql } from '../platform/database.ts';
import type { AccountId, EngagementId } from '../platform/ids.ts';
import type { Party } from '../routing/board/rules/answering.ts';

/** Conditions shared by statements inside an engagement. The statements use the alias `e` for the engagement. */

/**
 * A condition on `e`: the engagement is active and the caller takes part in it now. An operator without a role on the
 * engagement's site does not take part, even if the engagement still names them: the turn that ends it may not have run yet.
 *
 * This form takes no lock, so the operator may be removed from the site while the statement runs. Use it only for typing and
 * signals, which are not stored. A statement that writes uses `takesPartUntilCommit`.
 */
export function takesPart(sql: Sql, by: Party) {
  return isSideOf(sql, by, sql``);
}

/**
 * Like `takesPart`, but the condition holds until the transaction ends: the operator's assignment to the site is locked (FOR KEY
 * SHARE). Removing the operator from the site waits for this transaction. If a removal is already in progress, this statement
 * waits for it; PostgreSQL re-reads a row after it waited for the lock, so the deleted assignment is not found.
 */
export function takesPartUntilCommit(sql: Sql, by: Party) {
  return isSideOf(sql, by, sql`FOR KEY SHARE OF a`);
}

function isSideOf(sql: Sql, by: Party, lock: Piece) {
  if (by.kind === 'visitor') return sql`e.ended_at IS NULL AND e.visitor_id = ${by.id}`;
  const limited = by.onlyOn === undefined ? sql`` : sql`AND e.site_id = ANY(${[...by.onlyOn]}::uuid[])`;
  // Served by the primary keys of operator_assignments and operators.
  return sql`e.ended_at IS NULL AND e.operator_id = ${by.id} ${limited}
       AND EXISTS (SELECT 1
                     FROM operator_assignments a
                     JOIN operators o ON o.id = a.operator_id AND o.enabled
                    WHERE a.operator_id = e.operator_id AND a.site_id = e.site_id
                          ${lock})`;
}

/** The caller of one write of a batch, in the columns that `lockTogether` reads. */
export function partyColumns(by: Party) {
  const onlyOn = by.kind === 'operator' ? by.onlyOn : undefined;
  return { party: by.kind, party_id: by.id, only_on: onlyOn === undefined ? null : [...onlyOn] };
}

/**
 * The CTE `engaged` of a statement that writes to many engagements: the writes (JSON with account_id, engagement_id, the columns of
 * the party, and `columns`) whose caller takes part, with their engagements, whose rows are locked until the transaction ends.
 *
 * It never waits: a write whose engagement is locked, or whose operator is just being removed from the site, is left out, like one
 * that is refused. The statement for a single write then waits and decides. Therefore such statements cannot deadlock, whatever order
 * they and turns lock engagements in. A row that has changed since the statement began is locked, checked and read as it is now.
 *
 * Each engagement is read by its key: a subquery that locks is not joined in another order, whatever the statistics say.
 */
export function lockTogether(sql: Sql, writes: readonly object[], columns: Piece): Piece {
  return sql`
         engaged AS (
           SELECT w.*, e.*
             FROM json_to_recordset(${JSON.stringify(writes)}::text::json) AS w (
                    account_id uuid, engagement_id uuid, party text, party_id uuid, only_on uuid[], ${columns})
            CROSS JOIN LATERAL (
                    SELECT site_id, visitor_id, operator_id, ticket_id, request_id, sub_engagement_id, heard_by
                      FROM engagements e
                     WHERE id = w.engagement_id AND account_id = w.account_id AND ${takesPartIfUnlocked(sql)}
                       FOR NO KEY UPDATE SKIP LOCKED) AS e
            -- Always true. It makes the planner expect few rows, so that what follows is also read by keys.
            WHERE w.party IN ('visitor', 'operator'))`;
}

/** Like `takesPartUntilCommit`, for the write `w`; false also if the assignment is locked by its removal. */
const takesPartIfUnlocked = piece(
  (sql) => sql`e.ended_at IS NULL
              AND CASE w.party
                    WHEN 'visitor' THEN e.visitor_id = w.party_id
                    ELSE e.operator_id = w.party_id AND (w.only_on IS NULL OR e.site_id = ANY(w.only_on))
                         AND EXISTS (SELECT 1
                                       FROM operator_assignments a
                                       JOIN operators o ON o.id = a.operator_id AND o.enabled
                                      WHERE a.operator_id = e.operator_id AND a.site_id = e.site_id
                                        FOR KEY SHARE OF a SKIP LOCKED)
                  END`,
);

interface EngagedRow {
  readonly subEngagementId: string;
  readonly siteId: string;
  readonly visitorId: string;
  readonly operatorId: string;
  readonly requestId: string;
  readonly ticketId: string | null;
  readonly subscribers: readonly string[];
}

/** The engagement's row, locked until the transaction ends. `null`: it has ended, or the caller takes no part in it. */
export async function lockEngaged(
  sql: Sql,
  accountId: AccountId,
  id: EngagementId,
  by: Party,
): Promise<EngagedRow | null> {
  const [row] = await sql<EngagedRow[]>`
    SELECT e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId", e.visitor_id AS "visitorId",
           e.operator_id AS "operatorId", e.request_id AS "requestId", e.ticket_id AS "ticketId",
           e.heard_by AS "subscribers"
      FROM engagements e
     WHERE e.id = ${id} AND e.account_id = ${accountId} AND ${takesPartUntilCommit(sql, by)}
       FOR NO KEY UPDATE`;
  return row ?? null;
}
