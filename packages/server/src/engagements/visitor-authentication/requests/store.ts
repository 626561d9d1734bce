import { deleteOld, type ShouldContinue } from '../../../platform/database/batches.ts';
import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import { isNotMoving } from '../../../identity/moving.ts';
import { hasCome } from '../../../platform/clock/due-time.ts';
import type { AccountId, EngagementId, VisitorId } from '../../../platform/ids.ts';
import type { AuthenticationRequestId, RequestRow, ClaimedRequest } from './request.ts';

/** How long a decided request can be read. */
const keptDays = 7;
/** Longer than a token is accepted, including the clock tolerance. */
const usedTokenHours = 26;
/** A released request is not claimed again at once. Otherwise a partly working database would be queried in a tight loop. */
const releasedSec = 1;

interface NewRequest extends Omit<ClaimedRequest, 'attempts'> {
  readonly maxPerVisitor: number;
  readonly maxPerSite: number;
}

/** `false`: a limit is reached. The lock on the visitor's row makes the visitor's limit exact; the site's limit is approximate. */
export async function insertRequest(pool: Sql, request: NewRequest): Promise<boolean> {
  const { id, accountId, siteId, visitorId, providerId, proof, maxPerVisitor, maxPerSite } = request;
  return inTransaction(pool, async (sql) => {
    await sql`SELECT 1 FROM visitors WHERE id = ${visitorId} FOR NO KEY UPDATE`;
    // Served by visitor_authentication_requests_by_site.
    const [row] = await sql`
      INSERT INTO visitor_authentication_requests (id, account_id, site_id, visitor_id, provider_id, proof)
      SELECT ${id}, ${accountId}, ${siteId}, ${visitorId}, ${providerId}, ${proof}
        FROM (SELECT count(*) AS of_site, count(*) FILTER (WHERE visitor_id = ${visitorId}) AS of_visitor
                FROM visitor_authentication_requests
               WHERE site_id = ${siteId} AND state = 'pending') AS pending
       WHERE of_site < ${maxPerSite} AND of_visitor < ${maxPerVisitor}
      RETURNING id`;
    return row !== undefined;
  });
}

export async function findRequest(
  sql: Sql,
  visitorId: VisitorId,
  id: AuthenticationRequestId,
): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`
    SELECT id, provider_id, visitor_id, state, fail_reason, created_at, updated_at
      FROM visitor_authentication_requests
     WHERE id = ${id} AND visitor_id = ${visitorId}`;
  return row ?? null;
}

/** Claims the oldest pending request without a valid lease, except those of busy accounts and providers. */
export async function claimRequest(
  sql: Sql,
  leaseSec: number,
  busy: { readonly accounts: readonly string[]; readonly providers: readonly string[] },
): Promise<ClaimedRequest | null> {
  const [row] = await sql<ClaimedRequest[]>`
    UPDATE visitor_authentication_requests
       SET taken_until = now() + make_interval(secs => ${leaseSec}), attempts = attempts + 1
     WHERE id = (SELECT id
                   FROM visitor_authentication_requests
                  WHERE state = 'pending' AND ${hasCome(sql, sql`taken_until`, leaseSec)}
                    AND account_id <> ALL(${[...busy.accounts]}::uuid[])
                    AND provider_id <> ALL(${[...busy.providers]}::uuid[])
                    AND ${isNotMoving(sql, sql`visitor_authentication_requests.account_id`)}
                  ORDER BY taken_until, created_at
                  LIMIT 1
                  FOR UPDATE SKIP LOCKED)
    RETURNING id, account_id AS "accountId", site_id AS "siteId", visitor_id AS "visitorId",
              provider_id AS "providerId", proof, attempts`;
  return row ?? null;
}

/** Releases a request that could not be decided here. This does not count as an attempt. */
export async function releaseRequest(sql: Sql, id: AuthenticationRequestId): Promise<void> {
  await sql`
    UPDATE visitor_authentication_requests SET taken_until = now() + make_interval(secs => ${releasedSec}), attempts = attempts - 1
     WHERE id = ${id} AND state = 'pending'`;
}

/** Replaces a code by the ID token it was exchanged for, because the code cannot be exchanged again. */
export async function replaceProof(sql: Sql, id: AuthenticationRequestId, proof: Buffer): Promise<void> {
  await sql`UPDATE visitor_authentication_requests SET proof = ${proof} WHERE id = ${id} AND state = 'pending'`;
}

/** Decides a request. `false`: it was decided already; a concurrent call waits for the first one and gets `false`. */
export async function finishRequest(
  sql: Sql,
  id: AuthenticationRequestId,
  failReason: string | null,
): Promise<boolean> {
  const [row] = await sql`
    UPDATE visitor_authentication_requests
       SET state = ${failReason === null ? 'succeeded' : 'failed'}, fail_reason = ${failReason}, proof = NULL,
           updated_at = now()
     WHERE id = ${id} AND state = 'pending'
    RETURNING id`;
  return row !== undefined;
}

/** Whether the token is used for the first time. A concurrent use of the same token waits for the first one. */
export async function useToken(sql: Sql, accountId: AccountId, tokenHash: Buffer): Promise<boolean> {
  const [row] = await sql`
    INSERT INTO used_id_tokens (account_id, token_hash) VALUES (${accountId}, ${tokenHash})
    ON CONFLICT (account_id, token_hash) DO NOTHING
    RETURNING 1`;
  return row !== undefined;
}

/** Locks the visitor's active engagements, so that messages to them are in order with their other events. */
export async function lockEngagementsOf(sql: Sql, accountId: AccountId, visitorId: VisitorId): Promise<EngagementId[]> {
  // Served by engagements_by_visitor.
  const rows = await sql<{ id: EngagementId }[]>`
    SELECT id FROM engagements
     WHERE visitor_id = ${visitorId} AND account_id = ${accountId} AND ended_at IS NULL
     ORDER BY id
       FOR NO KEY UPDATE`;
  return rows.map(({ id }) => id);
}

export async function dropOldAuthentications(pool: Sql, now: Date, shouldContinue: ShouldContinue): Promise<void> {
  const requests = {
    table: 'visitor_authentication_requests',
    column: 'created_at',
    before: (sql: Sql) => sql`${now}::timestamptz - make_interval(days => ${keptDays})`,
    and: (sql: Sql) => sql`AND state <> 'pending'`,
  };
  const tokens = {
    table: 'used_id_tokens',
    column: 'used_at',
    before: (sql: Sql) => sql`${now}::timestamptz - make_interval(hours => ${usedTokenHours})`,
  };
  for (const rows of [requests, tokens]) await deleteOld(pool, rows, shouldContinue);
}
