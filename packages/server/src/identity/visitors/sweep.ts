import { inBatches, preferIndexes, type ShouldContinue } from '../../platform/database/batches.ts';
import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, VisitorId } from '../../platform/ids.ts';
import { lockAccount } from '../lock-account.ts';
import { visitorTokenSeconds } from '../tokens.ts';

/**
 * A visitor who was created with a publishable token and never did anything is deleted this long after their last token was
 * issued. A token is valid for half of that time, so nobody can act as the visitor any more.
 */
const unusedAfterMs = 2 * visitorTokenSeconds * 1000;
/** Visitors per transaction, which holds the account's lock and so delays routing. */
const batchSize = 200;

interface Candidate {
  readonly id: VisitorId;
  readonly accountId: AccountId;
  readonly issuedAt: Date;
}

/**
 * Checks every visitor once after their last token has expired: a visitor who never did anything is deleted, any other is kept
 * forever. Served by visitors_unproven. Several processes may run it at the same time.
 */
export async function dropUnusedVisitors(sql: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const issuedBefore = new Date(now.getTime() - unusedAfterMs);
  // Each batch begins where the one before has ended: deleted visitors stay in the index for a while.
  let from = new Date(0);
  await inBatches(async () => {
    const found = await sql<Candidate[]>`
      SELECT id, account_id AS "accountId", token_issued_at AS "issuedAt"
        FROM visitors
       WHERE token_issued_at < ${issuedBefore} AND token_issued_at >= ${from}
       ORDER BY token_issued_at
       LIMIT ${batchSize}`;
    const byAccount = Map.groupBy(found, ({ accountId }) => accountId);
    for (const [accountId, candidates] of byAccount) await deleteUnused(sql, accountId, candidates, issuedBefore);
    from = found.at(-1)?.issuedAt ?? from;
    return found.length === batchSize;
  }, shouldContinue);
}

/**
 * Tickets, requests and engagements have no foreign keys to visitors: only turns write them, under the account's lock. While this
 * transaction holds the lock, no turn can write any, and those that were written before are visible.
 */
async function deleteUnused(
  pool: Sql,
  accountId: AccountId,
  candidates: readonly Candidate[],
  issuedBefore: Date,
): Promise<void> {
  const ids = candidates.map(({ id }) => id);
  await inTransaction(pool, async (sql) => {
    await lockAccount(sql, accountId);
    await preferIndexes(sql);
    // `version = 1` means that the visitor was never changed. It and `token_issued_at` are columns of the deleted row, so DELETE
    // waits for a concurrent update or token and checks them again. `IS TRUE` makes PostgreSQL find the rows by their ids, and not by
    // the time of the token, which all visitors of the later batches match as well.
    await sql`
      DELETE FROM visitors v
       WHERE v.id = ANY(${ids}::uuid[]) AND (v.token_issued_at < ${issuedBefore}) IS TRUE
         AND v.version = 1 AND v.presence_expires_at IS NULL
         AND NOT EXISTS (SELECT FROM engagement_requests r WHERE r.visitor_id = v.id)
         AND NOT EXISTS (SELECT FROM engagements e WHERE e.visitor_id = v.id)
         AND NOT EXISTS (SELECT FROM queue_tickets t
                          WHERE t.visitor_id = v.id AND t.site_id = v.site_id AND t.kind = 'visitor' AND t.ended_at IS NULL)
         AND NOT EXISTS (SELECT FROM queue_tickets t
                          WHERE t.visitor_id = v.id AND t.ended_at IS NOT NULL AND t.engagement_id IS NULL)`;
    await sql`
      UPDATE visitors SET token_issued_at = NULL WHERE id = ANY(${ids}::uuid[]) AND (token_issued_at < ${issuedBefore}) IS TRUE`;
  });
}
