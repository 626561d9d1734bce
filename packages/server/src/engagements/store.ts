import type { Medium } from '@usher/contract/media';
import { pictureUrlOf } from '../identity/operators/pictures/picture.ts';
import type { Piece, Sql } from '../platform/database.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import type { Cursor } from '../platform/paging.ts';
import { sourceOf } from '../routing/board/rules/source.ts';
import { callsOfEngagement } from './calls/store.ts';
import type { EngagementRow } from './engagement.ts';

const selectEngagement = (sql: Sql) => sql`
  SELECT e.id, e.account_id, e.request_id AS engagement_request_id, e.ticket_id AS queue_ticket_id, e.queue_id, e.site_id,
         e.visitor_id, e.operator_id, e.media, CASE WHEN e.ended_at IS NULL THEN 'active' ELSE 'ended' END AS state,
         e.end_reason, e.started_at, e.ended_at, e.started_at AS created_at, e.updated_at,
         json_build_object('id', e.sub_engagement_id, 'operator_id', e.operator_id, 'site_id', e.site_id,
                           'started_at', e.sub_started_at, 'ended_at', e.ended_at) AS current_sub_engagement,
         coalesce((SELECT json_agg(json_build_object('id', s.id, 'operator_id', s.operator_id, 'site_id', s.site_id,
                                                     'media', s.media, 'started_at', s.started_at, 'ended_at', s.ended_at)
                                   ORDER BY s.started_at)
                     FROM sub_engagements s WHERE s.engagement_id = e.id), '[]') AS "endedLegs",
         (SELECT json_build_object('kind', r.kind, 'origin', r.origin, 'notes', json_build_object(
                                     'source', r.notes ->> 'source', 'platform', r.notes ->> 'platform'))
            FROM engagement_requests r WHERE r.id = e.request_id) AS request,
         ${callsOfEngagement(sql)} AS calls,
         -- By the primary key of operators.
         coalesce((SELECT json_agg(json_build_object('id', o.id, 'display_name', coalesce(o.display_name, o.name),
                                                     'picture_url', ${pictureUrlOf(sql)}) ORDER BY o.id)
                     FROM operators o
                    WHERE o.id IN (SELECT e.operator_id
                                    UNION SELECT s.operator_id FROM sub_engagements s WHERE s.engagement_id = e.id)), '[]') AS operators
    FROM engagements e`;

export async function findEngagement(sql: Sql, accountId: AccountId, id: string): Promise<EngagementRow | null> {
  const [row] = await sql<
    StoredEngagement[]
  >`${selectEngagement(sql)} WHERE e.id = ${id} AND e.account_id = ${accountId}`;
  return row === undefined ? null : toEngagementRow(row);
}

/** Of these engagements, those in which one of the visitors or operators takes part, and those on one of the sites. */
export async function engagementsById(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[],
  scope: {
    readonly visitors: readonly string[];
    readonly operators: readonly string[];
    readonly sites: readonly string[];
  },
): Promise<EngagementRow[]> {
  const rows = await sql<StoredEngagement[]>`
    ${selectEngagement(sql)}
     WHERE e.id = ANY(${[...ids]}::uuid[]) AND e.account_id = ${accountId}
       AND (e.visitor_id = ANY(${[...scope.visitors]}::uuid[]) OR e.operator_id = ANY(${[...scope.operators]}::uuid[])
            OR e.site_id = ANY(${[...scope.sites]}::uuid[]))`;
  return rows.map(toEngagementRow);
}

export interface EngagementQuery {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  /** On these sites all engagements are listed; on the others only those of the operator. */
  readonly managed: readonly SiteId[];
  readonly self: OperatorReach & { readonly visitorId: VisitorId | null };
  readonly operatorIds: readonly OperatorId[] | null;
  readonly visitorIds: readonly VisitorId[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly state: 'active' | 'ended' | null;
  readonly after: Cursor | null;
  readonly limit: number;
}

/** Newest first. Served by engagements_by_site and _by_visitor; active engagements are few and served by active_engagements. */
export async function listEngagements(sql: Sql, query: EngagementQuery): Promise<EngagementRow[]> {
  const { after } = query;
  const rows = await sql<StoredEngagement[]>`
    ${selectEngagement(sql)}
     WHERE e.account_id = ${query.accountId} AND ${visibleTo(sql, query)}
       AND (${query.operatorIds === null} OR e.operator_id = ANY(${[...(query.operatorIds ?? [])]}::uuid[]))
       AND (${query.visitorIds === null} OR e.visitor_id = ANY(${[...(query.visitorIds ?? [])]}::uuid[]))
       AND (${query.from}::timestamptz IS NULL OR e.started_at >= ${query.from})
       AND (${query.to}::timestamptz IS NULL OR e.started_at < ${query.to})
       ${inState(sql, query)}
       ${after === null ? sql`` : sql`AND (e.started_at, e.id) < (${after.at}, ${after.id}::uuid)`}
     ORDER BY e.started_at DESC, e.id DESC
     LIMIT ${query.limit}`;
  return rows.map(toEngagementRow);
}

/** Active engagements are found through `active_engagements`; otherwise every engagement of the account would be scanned. */
function inState(sql: Sql, { state, accountId }: Pick<EngagementQuery, 'state' | 'accountId'>) {
  if (state === null) return sql``;
  if (state === 'ended') return sql`AND e.ended_at IS NOT NULL`;
  return sql`AND e.ended_at IS NULL
       AND e.id IN (SELECT a.engagement_id FROM active_engagements a WHERE a.account_id = ${accountId})`;
}

/**
 * Visitors see their own engagements, also when another site served a request they made on theirs. Operators who name visitors
 * in the query see the earlier engagements of those they are engaged with now.
 */
function visibleTo(
  sql: Sql,
  { siteIds, managed, self, visitorIds }: Pick<EngagementQuery, 'siteIds' | 'managed' | 'self' | 'visitorIds'>,
) {
  const sites = [...siteIds];
  if (self.visitorId !== null)
    return sql`e.visitor_id = ${self.visitorId}
       AND (e.site_id = ANY(${sites}::uuid[]) OR e.asked_on_site_id = ANY(${sites}::uuid[]))`;
  return sql`e.site_id = ANY(${sites}::uuid[])
       AND (e.site_id = ANY(${[...managed]}::uuid[]) OR e.operator_id = ${self.operatorId}
            OR ${self.operatorId}::uuid IN (SELECT s.operator_id FROM sub_engagements s WHERE s.engagement_id = e.id)
            ${visitorIds === null ? sql`` : sql`OR ${isEngagedWith(sql, self, sql`e.visitor_id`)}`})`;
}

/** An operator, and the sites that the operator's token covers. */
interface OperatorReach {
  readonly operatorId: OperatorId | null;
  readonly reach: readonly SiteId[];
}

function isEngagedWith(sql: Sql, { operatorId, reach }: OperatorReach, visitorId: Piece) {
  return sql`EXISTS (SELECT 1 FROM engagements now
                      WHERE now.visitor_id = ${visitorId} AND now.operator_id = ${operatorId} AND now.ended_at IS NULL
                        AND now.site_id = ANY(${[...reach]}::uuid[]))`;
}

/** Whether the visitor and the operator are engaged with each other now. Served by engagements_by_visitor. */
export async function isEngagedNow(sql: Sql, operator: OperatorReach, visitorId: VisitorId): Promise<boolean> {
  const [row] = await sql<{ engaged: boolean }[]>`SELECT ${isEngagedWith(sql, operator, sql`${visitorId}`)} AS engaged`;
  return row?.engaged ?? false;
}

/** Whether the operator has a role on the site now. Served by the primary key of operator_assignments. */
export async function isAssigned(
  sql: Sql,
  { operatorId, siteId }: { readonly operatorId: OperatorId; readonly siteId: SiteId },
): Promise<boolean> {
  const [row] = await sql`
    SELECT 1 FROM operator_assignments WHERE operator_id = ${operatorId} AND site_id = ${siteId}`;
  return row !== undefined;
}

/** The selected columns. Times inside JSON are still text. */
interface StoredEngagement extends Omit<EngagementRow, 'sub_engagements' | 'legs' | 'source' | 'audio_recording_urls'> {
  /** Sub-engagements before the current one. */
  readonly endedLegs: readonly EngagementRow['legs'][number][];
  /** `null`: the request is no longer stored. */
  readonly request: Parameters<typeof sourceOf>[0] | null;
}

function toEngagementRow({ endedLegs, request, ...row }: StoredEngagement): EngagementRow {
  const current = withDates(row.current_sub_engagement);
  const ended = endedLegs.map(withDates);
  return {
    ...row,
    current_sub_engagement: current,
    sub_engagements: [...ended.map(({ media: _media, ...sub }) => sub), current] as EngagementRow['sub_engagements'],
    source: request === null ? null : sourceOf(request),
    legs: [...ended, legOf(current, row.media)],
    audio_recording_urls: [],
    calls: row.calls.map(callWithDates),
  };
}

function legOf(
  { id, operator_id, site_id, started_at, ended_at }: EngagementRow['current_sub_engagement'],
  media: Medium,
): EngagementRow['legs'][number] {
  return { id, operator_id, site_id, media, started_at, ended_at };
}

function callWithDates(call: EngagementRow['calls'][number]): EngagementRow['calls'][number] {
  const { connected_at: connectedAt } = call;
  return { ...withDates(call), connected_at: connectedAt === null ? null : new Date(connectedAt) };
}

function withDates<Sub extends { readonly started_at: Date; readonly ended_at: Date | null }>(sub: Sub): Sub {
  const { started_at: startedAt, ended_at: endedAt } = sub;
  return { ...sub, started_at: new Date(startedAt), ended_at: endedAt === null ? null : new Date(endedAt) };
}
