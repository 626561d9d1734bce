import { fragment, type SqlFragment, type Sql } from '../platform/database/database.ts';
import type { AccountId, EngagementId } from '../platform/ids.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import type { Party } from '../identity/party.ts';
import type { EngagementWrite } from './write-batches.ts';

/** Conditions shared by statements inside an engagement. The statements use the alias `e` for the engagement. */

/** Who writes to an engagement: one of its sides, the system, an assistant, or the carrier that delivered an SMS to the visitor. */
export type Writer = Party | { readonly kind: 'system' | 'omniguide' | 'carrier' };

export interface AuthoredWrite extends EngagementWrite {
  readonly by: Writer;
  /** The trace of the request. */
  readonly trace?: TraceContext | null;
}

/**
 * A condition on the engagement `e` and the writer `w` (`writerColumns`): the engagement is active, and a side takes part in it now. An
 * operator without a role on the engagement's site does not take part, even if the engagement still names them: the turn that ends it
 * may not have run yet. The carrier may report that an SMS was delivered after the engagement has ended.
 *
 * `lock` is for the operator's assignment to the site.
 */
function mayWrite(lock: '' | 'FOR KEY SHARE OF a' | 'FOR KEY SHARE OF a SKIP LOCKED') {
  // Served by the primary keys of operator_assignments and operators.
  return fragment((sql) =>
    sql.unsafe(`
              (e.ended_at IS NULL OR w.party = 'carrier')
              AND CASE w.party
                    WHEN 'visitor' THEN e.visitor_id = w.party_id
                    WHEN 'operator' THEN
                         e.operator_id = w.party_id AND (w.only_on IS NULL OR e.site_id = ANY(w.only_on))
                         AND EXISTS (SELECT 1
                                       FROM operator_assignments a
                                       JOIN operators o ON o.id = a.operator_id AND o.enabled
                                      WHERE a.operator_id = e.operator_id AND a.site_id = e.site_id
                                        ${lock})
                    ELSE true
                  END`),
  );
}

const mayWriteNow = mayWrite('');
/**
 * Holds until the transaction ends: removing the operator from the site waits for this transaction. If a removal is already in
 * progress, the statement waits for it; PostgreSQL re-reads a row after it waited for the lock, so the deleted assignment is not found.
 */
const mayWriteUntilCommit = mayWrite('FOR KEY SHARE OF a');
/** The same, but false if the operator is just being removed from the site. */
const mayWriteIfUnlocked = mayWrite('FOR KEY SHARE OF a SKIP LOCKED');

function writerColumns(by: Writer) {
  const onlyOn = by.kind === 'operator' ? by.onlyOn : undefined;
  return {
    party: by.kind,
    party_id: 'id' in by ? by.id : null,
    only_on: onlyOn === undefined ? null : [...onlyOn],
  };
}

/** A condition of `mayWrite` for one writer. */
function holdsFor(sql: Sql, by: Writer, condition: SqlFragment): SqlFragment {
  const { party, party_id: id, only_on: onlyOn } = writerColumns(by);
  return sql`(SELECT ${condition}
                FROM (SELECT ${party}::text AS party, ${id}::uuid AS party_id, ${onlyOn}::uuid[] AS only_on) AS w)`;
}

/**
 * The caller takes part in the engagement `e`. This takes no lock, so the operator may be removed from the site while the statement
 * runs. Use it only for typing and signals, which are not stored.
 */
export function takesPart(sql: Sql, by: Party): SqlFragment {
  return holdsFor(sql, by, mayWriteNow(sql));
}

/**
 * The CTE `engaged` of a statement that writes to many engagements: the writes that are permitted, with their engagements, whose rows
 * are locked until the transaction ends. `rowOf` returns further `columns` of a write. Every row has the id of its event.
 *
 * It never waits: a write whose engagement is locked, or whose operator is just being removed from the site, is left out, like one
 * that is refused. `lockEngaged` then waits and decides. Therefore such statements cannot deadlock, whatever order
 * they and turns lock engagements in. A row that has changed since the statement began is locked, checked and read as it is now.
 *
 * Each engagement is read by its key: a subquery that locks is not joined in another order, whatever the statistics say.
 */
export function lockTogether<Write extends AuthoredWrite>(
  sql: Sql,
  writes: readonly Write[],
  rowOf: (write: Write) => object,
  columns: SqlFragment,
): SqlFragment {
  const rows = writes.map((write) => ({
    account_id: write.accountId,
    engagement_id: write.engagementId,
    ...writerColumns(write.by),
    traceparent: write.trace?.traceparent,
    tracestate: write.trace?.tracestate,
    ...rowOf(write),
  }));
  return sql`
         engaged AS (
           SELECT w.*, e.*, gen_random_uuid() AS event_id
             FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS w (
                    account_id uuid, engagement_id uuid, party text, party_id uuid, only_on uuid[], traceparent text,
                    tracestate text, ${columns})
            CROSS JOIN LATERAL (
                    SELECT site_id, visitor_id, operator_id, ticket_id, request_id, sub_engagement_id,
                           CASE WHEN ended_at IS NULL THEN heard_by END AS heard_by
                      FROM engagements e
                     WHERE id = w.engagement_id AND account_id = w.account_id AND ${mayWriteIfUnlocked(sql)}
                       FOR NO KEY UPDATE SKIP LOCKED) AS e
            -- Always true. It makes the planner expect few rows, so that what follows is also read by keys.
            WHERE w.party IN ('visitor', 'operator', 'system', 'omniguide', 'carrier'))`;
}

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
  by: Writer,
): Promise<EngagedRow | null> {
  const [row] = await sql<EngagedRow[]>`
    SELECT e.sub_engagement_id AS "subEngagementId", e.site_id AS "siteId", e.visitor_id AS "visitorId",
           e.operator_id AS "operatorId", e.request_id AS "requestId", e.ticket_id AS "ticketId",
           e.heard_by AS "subscribers"
      FROM engagements e
     WHERE e.id = ${id} AND e.account_id = ${accountId} AND ${holdsFor(sql, by, mayWriteUntilCommit(sql))}
       FOR NO KEY UPDATE`;
  return row ?? null;
}
