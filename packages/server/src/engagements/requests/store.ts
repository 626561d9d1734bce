import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, SiteId } from '../../platform/ids.ts';
import type { Cursor } from '../../platform/http/paging.ts';
import type { Request } from '../../routing/board/structures/state.ts';
import { maxLastingRequestAge, maxRequestAge } from '../../routing/storage/request.ts';
import type { RequestRow } from './request.ts';
import type { Whose } from './whose.ts';

const columns = (sql: Sql) => sql`
  id, account_id AS "accountId", kind, origin, state, fail_reason AS "failReason", fail_message AS "failMessage",
  site_id AS "siteId", visitor_id AS "visitorId", operator_id AS "operatorId", media AS medium, queue_id AS "queueId",
  ticket_id AS "ticketId", engagement_id AS "engagementId", timeout_ms AS "timeoutMs", notes,
  extract(epoch FROM created_at)::float8 * 1000 AS "createdAt",
  CASE WHEN state <> 'pending' THEN extract(epoch FROM updated_at)::float8 * 1000 END AS "endedAt"`;

export async function findRequest(sql: Sql, accountId: AccountId, id: string): Promise<RequestRow | null> {
  const [row] = await sql<RequestRow[]>`
    SELECT ${columns(sql)} FROM engagement_requests WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

/** Which requests a reader may see: those of these visitors and operators, and all of these sites. */
interface RequestScope {
  readonly visitors: readonly string[];
  readonly operators: readonly string[];
  readonly sites: readonly string[];
}

/** Requests within the scope. Of a transfer, also who has the engagement, or had it before the transfer was accepted. */
export async function requestsById(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[],
  scope: RequestScope,
): Promise<(RequestRow & { readonly holder: { readonly id: string; readonly siteId: string } | null })[]> {
  return sql<(RequestRow & { holder: { id: string; siteId: string } | null })[]>`
    SELECT ${columns(sql)},
           CASE WHEN kind = 'transfer' AND state = 'accepted' THEN
                  (SELECT json_build_object('id', s.operator_id, 'siteId', s.site_id) FROM sub_engagements s
                    WHERE s.engagement_id = engagement_requests.engagement_id ORDER BY s.started_at DESC LIMIT 1)
                WHEN kind = 'transfer' THEN
                  (SELECT json_build_object('id', e.operator_id, 'siteId', e.site_id) FROM engagements e
                    WHERE e.id = engagement_requests.engagement_id) END AS holder
      FROM engagement_requests
     WHERE id = ANY(${[...ids]}::uuid[]) AND account_id = ${accountId}
       AND (visitor_id = ANY(${[...scope.visitors]}::uuid[]) OR operator_id = ANY(${[...scope.operators]}::uuid[])
            OR site_id = ANY(${[...scope.sites]}::uuid[]) OR kind = 'transfer')`;
}

interface RequestQuery {
  readonly accountId: AccountId;
  readonly whose: Whose;
  readonly kinds: readonly Request['kind'][];
  readonly state: Request['state'] | null;
  readonly after: Cursor | null;
  readonly limit: number;
}

/** Newest first. Served by engagement_requests_by_operator, _by_visitor and _by_site. */
export async function listRequests(sql: Sql, query: RequestQuery): Promise<RequestRow[]> {
  const { whose } = query;
  if ('siteIds' in whose) return listRequestsOfSites(sql, query, whose.siteIds);
  const ownedBy =
    'operatorId' in whose
      ? sql`operator_id = ${whose.operatorId} AND site_id = ANY(${[...whose.on]}::uuid[])`
      : sql`visitor_id = ${whose.visitorId}`;
  return sql<RequestRow[]>`
    SELECT ${columns(sql)}
      FROM (${pageOf(sql, query, ownedBy)}) AS engagement_requests
     ORDER BY created_at DESC, id DESC`;
}

/** One page for each site, from which one is made: the index has the requests of a site in order, but not those of several. */
async function listRequestsOfSites(sql: Sql, query: RequestQuery, siteIds: readonly SiteId[]): Promise<RequestRow[]> {
  return sql<RequestRow[]>`
    SELECT ${columns(sql)}
      FROM unnest(${[...new Set(siteIds)]}::uuid[]) AS requested (requested_site_id)
     CROSS JOIN LATERAL (${pageOf(sql, query, sql`site_id = requested_site_id`)}) AS engagement_requests
     ORDER BY created_at DESC, id DESC
     LIMIT ${query.limit}`;
}

/**
 * A page of the requests of an owner. Pending ones are few and recent, so they are looked for by their age: among all requests of
 * the owner, a page that they do not fill would read the whole history.
 */
function pageOf(sql: Sql, query: RequestQuery, ownedBy: SqlFragment): SqlFragment {
  const { accountId, kinds, state, after, limit } = query;
  const matching = sql`
           SELECT *
             FROM engagement_requests
            WHERE ${ownedBy} AND account_id = ${accountId} AND kind = ANY(${[...kinds]}::text[])
              ${state === null ? sql`` : sql`AND state = ${state}`}
              ${after === null ? sql`` : sql`AND (created_at, id) < (${after.at}, ${after.id}::uuid)`}`;
  const found = state === 'pending' ? sql`SELECT * FROM (${pendingOf(sql, accountId, matching)}) AS pending` : matching;
  return sql`
           ${found}
            ORDER BY created_at DESC, id DESC
            LIMIT ${limit}`;
}

/** The statement about requests, limited to the age that a pending request can have; lasting requests may be older. */
function pendingOf(sql: Sql, accountId: AccountId, requests: SqlFragment): SqlFragment {
  const after = (age: string) =>
    sql`created_at > (SELECT turned_at FROM accounts WHERE id = ${accountId}) - ${age}::interval`;
  return sql`
           ${requests} AND ${after(maxRequestAge)}
           UNION ALL
           ${requests} AND ${after(maxLastingRequestAge)} AND NOT ${after(maxRequestAge)}
              AND kind = 'direct' AND notes ->> 'platform' = 'sms'`;
}
