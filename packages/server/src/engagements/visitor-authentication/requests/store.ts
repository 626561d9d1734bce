import { inTransaction, type Sql } from '../../../platform/database.ts';
import { hasCome } from '../../../platform/due-time.ts';
import type { AccountId, EngagementId, VisitorId } from '../../../platform/ids.ts';
import type { AuthenticationRequestId, RequestRow, TakenRequest } from './request.ts';

/** A decided request is shown for so long. */
const keptDays = 7;
/** Longer than a token is accepted, its leeway included. */
const usedTokenHours = 26;
/** What was given back is not taken again at once, lest a database that half works be asked without a pause. */
const returnedSec = 1;

interface NewRequest extends Omit<TakenRequest, 'attempts'> {
  readonly mostOfVisitor: number;
  readonly mostOfSite: number;
}

/** Whether it was let in. The lock on the visitor's row makes the count of its pending ones exact; the site's is about right. */
export async function insertRequest(pool: Sql, request: NewRequest): Promise<boolean> {
  const { id, accountId, siteId, visitorId, providerId, proof, mostOfVisitor, mostOfSite } = request;
  return inTransaction(pool, async (sql) => {
    await sql`SELECT 1 FROM visitors WHERE id = ${visitorId} FOR NO KEY UPDATE`;
    // Served by visitor_authentication_requests_by_site.
    const [row] = await sql`
      INSERT INTO visitor_authentication_requests (id, account_id, site_id, visitor_id, provider_id, proof)
      SELECT ${id}, ${accountId}, ${siteId}, ${visitorId}, ${providerId}, ${proof}
        FROM (SELECT count(*) AS of_site, count(*) FILTER (WHERE visitor_id = ${visitorId}) AS of_visitor
                FROM visitor_authentication_requests
               WHERE site_id = ${siteId} AND state = 'pending') AS pending
       WHERE of_site < ${mostOfSite} AND of_visitor < ${mostOfVisitor}
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

/** Takes the oldest request that nobody has, or has had for too long; none of the accounts and providers that are busy. */
export async function takeRequest(
  sql: Sql,
  leaseSec: number,
  busy: { readonly accounts: readonly string[]; readonly providers: readonly string[] },
): Promise<TakenRequest | null> {
  const [row] = await sql<TakenRequest[]>`
    UPDATE visitor_authentication_requests
       SET taken_until = now() + make_interval(secs => ${leaseSec}), attempts = attempts + 1
     WHERE id = (SELECT id
                   FROM visitor_authentication_requests
                  WHERE state = 'pending' AND ${hasCome(sql, sql`taken_until`, leaseSec)}
                    AND account_id <> ALL(${[...busy.accounts]}::uuid[])
                    AND provider_id <> ALL(${[...busy.providers]}::uuid[])
                  ORDER BY taken_until, created_at
                  LIMIT 1
                  FOR UPDATE SKIP LOCKED)
    RETURNING id, account_id AS "accountId", site_id AS "siteId", visitor_id AS "visitorId",
              provider_id AS "providerId", proof, attempts`;
  return row ?? null;
}

/** Gives back what could not be decided here, for another to take. It does not count as an attempt. */
export async function returnRequest(sql: Sql, id: AuthenticationRequestId): Promise<void> {
  await sql`
    UPDATE visitor_authentication_requests SET taken_until = now() + make_interval(secs => ${returnedSec}), attempts = attempts - 1
     WHERE id = ${id} AND state = 'pending'`;
}

/** Keeps what a code was exchanged for in its place: it cannot be exchanged again. */
export async function replaceProof(sql: Sql, id: AuthenticationRequestId, proof: Buffer): Promise<void> {
  await sql`UPDATE visitor_authentication_requests SET proof = ${proof} WHERE id = ${id} AND state = 'pending'`;
}

/** Decides a request; whether it was this call that did. Whoever comes second waits for the first and finds it decided. */
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

/** Whether the token is used for the first time. Two at once: the second waits for the first. */
export async function useToken(sql: Sql, accountId: AccountId, tokenHash: Buffer): Promise<boolean> {
  const [row] = await sql`
    INSERT INTO used_id_tokens (account_id, token_hash) VALUES (${accountId}, ${tokenHash})
    ON CONFLICT (account_id, token_hash) DO NOTHING
    RETURNING 1`;
  return row !== undefined;
}

/** The engagements that the visitor is in, held so that what is said in them has its place among what else happens. */
export async function lockEngagementsOf(sql: Sql, accountId: AccountId, visitorId: VisitorId): Promise<EngagementId[]> {
  // Served by engagements_by_visitor.
  const rows = await sql<{ id: EngagementId }[]>`
    SELECT id FROM engagements
     WHERE visitor_id = ${visitorId} AND account_id = ${accountId} AND ended_at IS NULL
     ORDER BY id
       FOR NO KEY UPDATE`;
  return rows.map(({ id }) => id);
}

export async function dropOldAuthentications(sql: Sql, now: Date): Promise<void> {
  await sql`
    DELETE FROM visitor_authentication_requests
     WHERE state <> 'pending' AND created_at < ${now}::timestamptz - make_interval(days => ${keptDays})`;
  await sql`DELETE FROM used_id_tokens WHERE used_at < ${now}::timestamptz - make_interval(hours => ${usedTokenHours})`;
}
