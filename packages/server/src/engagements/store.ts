import type { Medium } from '@usher/contract/media';
import { pictureUrlOf } from '../identity/operators/pictures/picture.ts';
import type { SqlFragment, Sql } from '../platform/database/database.ts';
import type { AccountId, OperatorId, SiteId, VisitorId } from '../platform/ids.ts';
import type { Cursor } from '../platform/http/paging.ts';
import { sourceOf } from '../routing/board/rules/requests.ts';
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

/**
 * Newest first. The ids of the page are found by index, from as many sources as the caller's access needs. Each source is ordered
 * and has at most a page, so that the cost does not depend on how many engagements there are.
 */
export async function listEngagements(sql: Sql, query: EngagementQuery): Promise<EngagementRow[]> {
  const [first = noSource(sql), ...others] = sourcesOf(sql, query);
  const rows = await sql<StoredEngagement[]>`
    WITH found AS (${others.reduce((all, source) => sql`${all} UNION ${source}`, first)}),
         page AS (SELECT id FROM found ORDER BY started_at DESC, id DESC LIMIT ${query.limit})
    ${selectEngagement(sql)}
     -- As an array, so that the rows are read by the primary key whatever the planner expects of the page.
     WHERE e.id = ANY(ARRAY(SELECT id FROM page))
     ORDER BY e.started_at DESC, e.id DESC`;
  return rows.map(toEngagementRow);
}

/** Statements that select `id` and `started_at` of the newest engagements. */
function sourcesOf(sql: Sql, query: EngagementQuery): readonly SqlFragment[] {
  const { self, visitorIds } = query;
  if (query.state === 'active') return [activeOnes(sql, query)];
  if (self.visitorId !== null) {
    const isListed = visitorIds === null || visitorIds.includes(self.visitorId);
    return isListed ? [ofVisitors(sql, query, [self.visitorId])] : [];
  }
  if (visitorIds !== null) return [ofVisitors(sql, query, visitorIds)];
  const managed = new Set(query.managed);
  const others = new Set(query.siteIds).difference(managed);
  return [
    ...(managed.size === 0 ? [] : [onSites(sql, query, [...managed])]),
    ...(others.size === 0 ? [] : ownOn(sql, query, [...others])),
  ];
}

const noSource = (sql: Sql): SqlFragment => sql`SELECT NULL::uuid AS id, NULL::timestamptz AS started_at WHERE false`;

/** The columns by which a source is ordered. */
interface SourceOrder {
  readonly startedAt: SqlFragment;
  readonly id: SqlFragment;
}

const ofEngagement = (sql: Sql): SourceOrder => ({ startedAt: sql`e.started_at`, id: sql`e.id` });

/** The conditions on every source `e`, and what makes it a page. */
function pageOf(sql: Sql, query: EngagementQuery, { startedAt, id }: SourceOrder = ofEngagement(sql)): SqlFragment {
  const { accountId, from, to, state, after, limit } = query;
  return sql`
             AND e.account_id = ${accountId}
             ${from === null ? sql`` : sql`AND ${startedAt} >= ${from}`}
             ${to === null ? sql`` : sql`AND ${startedAt} < ${to}`}
             ${state === 'ended' ? sql`AND e.ended_at IS NOT NULL` : sql``}
             ${after === null ? sql`` : sql`AND (${startedAt}, ${id}) < (${after.at}, ${after.id}::uuid)`}
           ORDER BY ${startedAt} DESC, ${id} DESC
           LIMIT ${limit}`;
}

function byOperators(sql: Sql, operatorIds: readonly OperatorId[] | null): SqlFragment {
  return operatorIds === null ? sql`` : sql`AND e.operator_id = ANY(${[...operatorIds]}::uuid[])`;
}

/** Active engagements are few, and found through `active_engagements`. */
function activeOnes(sql: Sql, query: EngagementQuery): SqlFragment {
  const { accountId, operatorIds, visitorIds } = query;
  return sql`
         (SELECT e.id, e.started_at
            FROM active_engagements a
            JOIN engagements e ON e.id = a.engagement_id
           WHERE a.account_id = ${accountId} AND e.ended_at IS NULL AND ${visibleTo(sql, query)}
             ${byOperators(sql, operatorIds)}
             ${visitorIds === null ? sql`` : sql`AND e.visitor_id = ANY(${[...visitorIds]}::uuid[])`}
             ${pageOf(sql, query)})`;
}

/** Served by engagements_by_visitor. */
function ofVisitors(sql: Sql, query: EngagementQuery, visitorIds: readonly VisitorId[]): SqlFragment {
  return sql`
         SELECT e.id, e.started_at
           FROM unnest(${[...new Set(visitorIds)]}::uuid[]) AS visitor (id)
          CROSS JOIN LATERAL (
                SELECT e.id, e.started_at
                  FROM engagements e
                 WHERE e.visitor_id = visitor.id AND ${visibleTo(sql, query)} ${byOperators(sql, query.operatorIds)}
                 ${pageOf(sql, query)}) AS e`;
}

/** More pairs of a site and an operator than this are not looked up one by one: among so many operators a page is found soon. */
const maxPairs = 1_000;

/** All engagements of the managed sites. Served by engagements_by_site, or by engagements_by_site_and_operator. */
function onSites(sql: Sql, query: EngagementQuery, siteIds: readonly SiteId[]): SqlFragment {
  const { operatorIds } = query;
  if (operatorIds !== null && operatorIds.length * siteIds.length <= maxPairs)
    return ofOperators(sql, query, { siteIds, operatorIds: [...new Set(operatorIds)] });
  return sql`
         SELECT e.id, e.started_at
           FROM unnest(${[...siteIds]}::uuid[]) AS site (id)
          CROSS JOIN LATERAL (
                SELECT e.id, e.started_at
                  FROM engagements e
                 WHERE e.site_id = site.id ${byOperators(sql, operatorIds)}
                 ${pageOf(sql, query)}) AS e`;
}

interface OperatorsOnSites {
  readonly siteIds: readonly SiteId[];
  readonly operatorIds: readonly OperatorId[];
}

/** Served by engagements_by_site_and_operator. */
function ofOperators(sql: Sql, query: EngagementQuery, { siteIds, operatorIds }: OperatorsOnSites): SqlFragment {
  return sql`
         SELECT e.id, e.started_at
           FROM unnest(${[...siteIds]}::uuid[]) AS site (id)
          CROSS JOIN unnest(${[...operatorIds]}::uuid[]) AS operator (id)
          CROSS JOIN LATERAL (
                SELECT e.id, e.started_at
                  FROM engagements e
                 WHERE e.site_id = site.id AND e.operator_id = operator.id
                 ${pageOf(sql, query)}) AS e`;
}

/** On sites that the caller does not manage: the engagements that they have or had, and those that they have transferred. */
function ownOn(sql: Sql, query: EngagementQuery, siteIds: readonly SiteId[]): readonly SqlFragment[] {
  const { self, operatorIds } = query;
  if (self.operatorId === null) return [];
  const isListed = operatorIds === null || operatorIds.includes(self.operatorId);
  return [
    ...(isListed ? [ofOperators(sql, query, { siteIds, operatorIds: [self.operatorId] })] : []),
    transferredBy(sql, query, { siteIds, operatorId: self.operatorId }),
  ];
}

/** Served by sub_engagements_of_operator, which has them in the order of their engagements. An operator may have had one twice. */
function transferredBy(
  sql: Sql,
  query: EngagementQuery,
  { siteIds, operatorId }: { readonly siteIds: readonly SiteId[]; readonly operatorId: OperatorId },
): SqlFragment {
  const order = { startedAt: sql`s.engagement_started_at`, id: sql`s.engagement_id` };
  return sql`
         (SELECT DISTINCT s.engagement_id AS id, s.engagement_started_at AS started_at
            FROM sub_engagements s
            JOIN engagements e ON e.id = s.engagement_id
           WHERE s.operator_id = ${operatorId} AND e.site_id = ANY(${[...siteIds]}::uuid[])
             ${byOperators(sql, query.operatorIds)}
             ${pageOf(sql, query, order)})`;
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

function isEngagedWith(sql: Sql, { operatorId, reach }: OperatorReach, visitorId: SqlFragment) {
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
