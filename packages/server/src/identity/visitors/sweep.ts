import { inTransaction, type Sql } from '../../platform/database.ts';
import type { AccountId, VisitorId } from '../../platform/ids.ts';
import { lockAccount } from '../lock-account.ts';
import { visitorTokenSeconds } from '../tokens.ts';

/**
 * A visitor who was made with a publishable token and never did anything is removed so long after the last token was issued. A
 * token lasts half of that, so nobody can act as the visitor any more.
 */
const unusedAfterMs = 2 * visitorTokenSeconds * 1000;
/** Visitors looked at in one transaction, which holds the lock that routing waits for. */
const inBatch = 200;
/** Batches of one sweep; the rest follows in the next. */
const mostBatches = 500;

interface Candidate {
  readonly id: VisitorId;
  readonly accountId: AccountId;
}

/**
 * Looks once at every visitor whose last token has long expired: one who never did anything is deleted, any other is kept for
 * good. Served by visitors_unproven. Every process may do it at any time.
 */
export async function dropUnusedVisitors(sql: Sql, now: Date): Promise<void> {
  const issuedBefore = new Date(now.getTime() - unusedAfterMs);
  for (let batch = 0; batch < mostBatches; batch += 1) {
    const found = await sql<Candidate[]>`
      SELECT id, account_id AS "accountId"
        FROM visitors
       WHERE token_issued_at < ${issuedBefore}
       ORDER BY token_issued_at
       LIMIT ${inBatch}`;
    const byAccount = Map.groupBy(found, ({ accountId }) => accountId);
    for (const [accountId, candidates] of byAccount) await decide(sql, accountId, candidates, issuedBefore);
    if (found.length < inBatch) return;
  }
}

/**
 * Tickets, requests and engagements have no foreign keys: only turns write them, under the lock of the account. While this
 * transaction holds that lock nobody can begin anything, and what was begun before is seen.
 */
async function decide(
  pool: Sql,
  accountId: AccountId,
  candidates: readonly Candidate[],
  issuedBefore: Date,
): Promise<void> {
  const ids = candidates.map(({ id }) => id);
  await inTransaction(pool, async (sql) => {
    await lockAccount(sql, accountId);
    // `version = 1`: nothing known of the visitor was changed. Both are asked of the row itself, so that an update under way,
    // or a token that is issued at this moment, is waited for and seen.
    await sql`
      DELETE FROM visitors v
       WHERE v.id = ANY(${ids}::uuid[]) AND v.token_issued_at < ${issuedBefore}
         AND v.version = 1 AND v.presence_expires_at IS NULL
         AND NOT EXISTS (SELECT FROM engagement_requests r WHERE r.visitor_id = v.id)
         AND NOT EXISTS (SELECT FROM engagements e WHERE e.visitor_id = v.id)
         AND NOT EXISTS (SELECT FROM queue_tickets t
                          WHERE t.visitor_id = v.id AND t.site_id = v.site_id AND t.kind = 'visitor' AND t.ended_at IS NULL)
         AND NOT EXISTS (SELECT FROM queue_tickets t
                          WHERE t.visitor_id = v.id AND t.ended_at IS NOT NULL AND t.engagement_id IS NULL)`;
    await sql`
      UPDATE visitors SET token_issued_at = NULL WHERE id = ANY(${ids}::uuid[]) AND token_issued_at < ${issuedBefore}`;
  });
}
