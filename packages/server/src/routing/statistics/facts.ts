import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import { isUuid, type AccountId, type SiteId } from '../../platform/ids.ts';
import { isId, type Dimension, type Filter } from './filter.ts';
import type { StatisticsQuery } from './query.ts';

/** What a statistic counts, as SQL. One row is one fact: a sub-engagement, a visit of a queue, or a presence interval. */
export interface Facts {
  /** The FROM clause, limited to the sites and the range by an index. */
  readonly source: SqlFragment;
  readonly startedAt: SqlFragment;
  readonly endedAt: SqlFragment;
  readonly columns: Readonly<Record<Dimension, SqlFragment>>;
  /** `null`: a fact has one value of each dimension. */
  readonly memberships: Memberships | null;
}

/**
 * An operator may have several sites and teams, so a fact may belong to several groups. Thousands of facts have the same sites and
 * teams; they are added up first, and their sums are repeated for each site and team.
 */
export interface Memberships {
  /** The columns of a fact with all its sites or teams. */
  readonly lists: readonly string[];
  /** Joins one row for each site and team to `sums`, which has the lists as columns. */
  readonly join: SqlFragment;
  /** The dimensions that differ between these rows. */
  readonly columns: Partial<Readonly<Record<Dimension, SqlFragment>>>;
}

/** Whether the query groups or filters by any of the dimensions. */
type Uses = (...any: readonly Dimension[]) => boolean;

/** Statistics call the medium text `chat`. */
const mediumName = (sql: Sql, column: SqlFragment): SqlFragment =>
  sql`CASE ${column} WHEN 'text' THEN 'chat' ELSE ${column} END`;

/** Every dimension as NULL; a statistic overrides those it has. */
const missing = (sql: Sql): Readonly<Record<Dimension, SqlFragment>> => ({
  site_id: sql`NULL::uuid`,
  queue_id: sql`NULL::uuid`,
  operator_id: sql`NULL::uuid`,
  team_id: sql`NULL::uuid`,
  type: sql`NULL::text`,
  end_reason: sql`NULL::text`,
  media: sql`NULL::text`,
  highest_operator_media: sql`NULL::text`,
  outcome: sql`NULL::text`,
  destination_queue_id: sql`NULL::uuid`,
  user_type: sql`NULL::text`,
});

/**
 * Ended sub-engagements: those that ended with a transfer, and the last one of each ended engagement. Served by
 * engagements_by_site_and_sub and sub_engagements_by_site. A sub-engagement is deleted before its engagement, so the outer join finds
 * one for each; unlike an inner join, the planner leaves it out if the query uses none of its columns.
 */
export function subEngagements(sql: Sql, { siteIds, from, to }: StatisticsQuery, uses: Uses): Facts {
  const sites = [...siteIds];
  return {
    source: sql`
      (SELECT e.site_id, e.operator_id, e.operator_team_ids, e.media,
              coalesce(e.highest_media, e.media) AS highest_media, e.end_reason, e.queue_id, e.request_id,
              e.sub_started_at AS started_at, e.ended_at
         FROM engagements e
        WHERE e.site_id = ANY(${sites}::uuid[]) AND e.sub_started_at >= ${from} AND e.sub_started_at < ${to}
          AND e.ended_at IS NOT NULL
       UNION ALL
       SELECT s.site_id, s.operator_id, s.operator_team_ids, s.media, coalesce(s.highest_media, s.media), 'transferred',
              e.queue_id, e.request_id, s.started_at, s.ended_at
         FROM sub_engagements s
         LEFT JOIN engagements e ON e.id = s.engagement_id
        WHERE s.site_id = ANY(${sites}::uuid[]) AND s.started_at >= ${from} AND s.started_at < ${to}) AS fact
      ${uses('type') ? sql`LEFT JOIN engagement_requests request ON request.id = fact.request_id` : sql``}`,
    startedAt: sql`fact.started_at`,
    endedAt: sql`fact.ended_at`,
    memberships: uses('team_id') ? teamsOfOperator(sql) : null,
    columns: {
      ...missing(sql),
      site_id: sql`fact.site_id`,
      queue_id: sql`fact.queue_id`,
      operator_id: sql`fact.operator_id`,
      ...(uses('type')
        ? { type: sql`CASE request.origin WHEN 'visitor' THEN 'reactive' WHEN 'operator' THEN 'proactive' END` }
        : {}),
      end_reason: sql`fact.end_reason`,
      media: mediumName(sql, sql`fact.media`),
      highest_operator_media: mediumName(sql, sql`fact.highest_media`),
      user_type: sql`'operator'`,
    },
  };
}

const teamsOfOperator = (sql: Sql): Memberships => ({
  lists: ['operator_team_ids'],
  join: sql`LEFT JOIN LATERAL unnest(sums.operator_team_ids) AS team (id) ON true`,
  columns: { team_id: sql`team.id` },
});

/** Completed visits of queues, including deleted queues. Served by queue_visits_by_queue. */
export function queueVisits(sql: Sql, { siteIds, from, to }: StatisticsQuery, uses: Uses): Facts {
  const sites = [...siteIds];
  const ticket = uses('outcome', 'media', 'type');
  return {
    source: sql`
      (SELECT id, site_id FROM queues WHERE site_id = ANY(${sites}::uuid[])
       UNION ALL
       SELECT id, site_id FROM deleted_queues WHERE site_id = ANY(${sites}::uuid[])) AS queue
      JOIN queue_visits fact
        ON fact.queue_id = queue.id AND fact.entered_at >= ${from} AND fact.entered_at < ${to}
      ${ticket ? sql`LEFT JOIN queue_tickets ticket ON ticket.id = fact.ticket_id` : sql``}`,
    startedAt: sql`fact.entered_at`,
    endedAt: sql`fact.left_at`,
    memberships: null,
    columns: {
      ...missing(sql),
      site_id: sql`queue.site_id`,
      queue_id: sql`fact.queue_id`,
      destination_queue_id: sql`fact.destination_queue_id`,
      ...(ticket ? ticketColumns(sql) : {}),
    },
  };
}

/** Dimensions of the ticket. The outcome is `transferred` if an engaged visitor was transferred to the queue. */
const ticketColumns = (sql: Sql) => ({
  type: sql`CASE ticket.kind WHEN 'visitor' THEN 'reactive' WHEN 'transfer' THEN 'proactive' END`,
  media: mediumName(sql, sql`ticket.media`),
  outcome: sql`
    CASE WHEN fact.outcome = 'engaged' AND ticket.kind = 'transfer' THEN 'transferred'
         WHEN fact.outcome IN ('canceled', 'visitor_left') THEN 'abandoned'
         WHEN fact.outcome = 'moved' THEN 'fallback'
         ELSE fact.outcome END`,
});

/**
 * Presence intervals that overlap the range, clipped to it: those that start in the range, and the others, which are few. They are
 * apart, because only the first are read by parallel workers.
 */
export function presence(sql: Sql, query: StatisticsQuery, uses: Uses): readonly [Facts, Facts] {
  const { from, to } = query;
  const memberships = uses('team_id') ? sitesAndTeams(sql, query) : uses('site_id') ? sitesOnly(sql, query) : null;
  const columns = {
    ...missing(sql),
    operator_id: sql`kept.operator_id`,
    type: presenceType(sql),
    user_type: sql`'operator'`,
  };
  const endedAt = sql`least(kept.until, ${to})`;
  return [
    {
      source: sql`(${intervalsFrom(sql, query)}) AS kept`,
      startedAt: sql`kept.started_at`,
      endedAt,
      memberships,
      columns,
    },
    {
      source: sql`(${otherIntervals(sql, query)}) AS kept`,
      startedAt: sql`greatest(kept.started_at, ${from})`,
      endedAt,
      memberships,
      columns,
    },
  ];
}

const sitesAndTeams = (sql: Sql, { siteIds }: StatisticsQuery): Memberships => ({
  lists: ['site_ids', 'team_ids'],
  join: sql`
      JOIN LATERAL unnest(sums.site_ids, sums.team_ids) AS member (site_id, team_id)
        ON member.site_id = ANY(${[...siteIds]}::uuid[])`,
  columns: { site_id: sql`member.site_id`, team_id: sql`member.team_id` },
});

const sitesOnly = (sql: Sql, { siteIds }: StatisticsQuery): Memberships => ({
  lists: ['site_ids'],
  join: sql`JOIN LATERAL unnest(sums.site_ids) AS member (site_id) ON member.site_id = ANY(${[...siteIds]}::uuid[])`,
  columns: { site_id: sql`member.site_id` },
});

interface IntervalsQuery {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly from: Date;
  readonly to: Date;
}

/** Intervals of the account's operators on the sites that overlap the range. */
export function intervalsInRange(sql: Sql, query: IntervalsQuery): SqlFragment {
  return sql`${intervalsFrom(sql, query)} UNION ALL ${otherIntervals(sql, query)}`;
}

/** `until` is the end of an interval. One that goes on ends with the lease of its operator, or now. */
const intervalColumns = (sql: Sql, until: SqlFragment): SqlFragment => sql`
  i.id, i.operator_id, i.engaged, i.available, i.media, i.reason, i.site_ids, i.team_ids, i.started_at, i.ended_at, ${until} AS until`;

/** Most operators have one site. The comparison of lists takes longer than that of their first elements. */
function isOnSites(sql: Sql, { siteIds }: IntervalsQuery): SqlFragment {
  const sites = sql`${[...siteIds]}::uuid[]`;
  return sql`(i.site_ids[1] = ANY(${sites}) OR i.site_ids && ${sites})`;
}

/** The ended intervals that start in the range. They may have no duration. Served by presence_intervals_ended. */
function intervalsFrom(sql: Sql, query: IntervalsQuery): SqlFragment {
  const { accountId, from, to } = query;
  return sql`
        SELECT ${intervalColumns(sql, sql`i.ended_at`)}
          FROM presence_intervals i
         WHERE i.account_id = ${accountId} AND i.started_at >= ${from} AND i.started_at < ${to} AND i.ended_at IS NOT NULL
           AND ${isOnSites(sql, query)}`;
}

/**
 * The intervals that go on, and of each operator the last ended one before the range (they follow each other) and the ended ones that
 * overlap others. Served by presence_intervals_open, the primary key and presence_intervals_overlapping.
 */
function otherIntervals(sql: Sql, query: IntervalsQuery): SqlFragment {
  const { accountId, from, to } = query;
  const leaseEnd = sql`CASE WHEN i.engaged THEN now() ELSE least(now(), o.presence_expires_at) END`;
  return sql`
        SELECT ${intervalColumns(sql, leaseEnd)}
          FROM presence_intervals i
          JOIN operators o ON o.id = i.operator_id
         WHERE i.account_id = ${accountId} AND i.started_at < ${to} AND i.ended_at IS NULL
           AND ${leaseEnd} > greatest(i.started_at, ${from}) AND ${isOnSites(sql, query)}
        UNION ALL
        SELECT ${intervalColumns(sql, sql`i.ended_at`)}
          FROM operators o
         CROSS JOIN LATERAL (
               SELECT i.*
                 FROM presence_intervals i
                WHERE i.operator_id = o.id AND i.started_at < ${from} AND i.ended_at IS NOT NULL AND NOT i.overlapping
                ORDER BY i.started_at DESC, i.id DESC
                LIMIT 1) AS i
         WHERE o.account_id = ${accountId} AND i.ended_at > ${from} AND ${isOnSites(sql, query)}
        UNION ALL
        SELECT ${intervalColumns(sql, sql`i.ended_at`)}
          FROM operators o
          JOIN presence_intervals i ON i.operator_id = o.id
         WHERE o.account_id = ${accountId} AND i.started_at < ${from} AND i.ended_at > ${from} AND i.overlapping
           AND ${isOnSites(sql, query)}`;
}

/**
 * The state of the operator in the interval `kept`. Of several media the highest is shown; text is shown as `chat`. Reasons are free
 * text, so a reason that equals the name of a state is reported as `away`.
 */
export const presenceType = (sql: Sql): SqlFragment => sql`
  CASE WHEN kept.engaged THEN 'engaged'
       WHEN kept.available AND 'video' = ANY(kept.media) THEN 'video'
       WHEN kept.available AND kept.media && '{audio,phone}' THEN 'audio'
       WHEN kept.available AND kept.media <> '{}' THEN 'chat'
       WHEN kept.reason IN ('', 'engaged', 'video', 'audio', 'chat') THEN 'away'
       ELSE coalesce(kept.reason, 'away') END`;

/** The filter as an SQL condition that is never NULL. */
export function conditionOf(sql: Sql, filter: Filter | null, columns: Facts['columns']): SqlFragment {
  if (filter === null) return sql`true`;
  switch (filter.type) {
    case 'and':
      return joined(sql, filter.fields.map((field) => conditionOf(sql, field, columns)), sql` AND `); // prettier-ignore
    case 'or':
      return joined(sql, filter.fields.map((field) => conditionOf(sql, field, columns)), sql` OR `); // prettier-ignore
    case 'not':
      return sql`NOT ${conditionOf(sql, filter.field, columns)}`;
    case 'in': {
      const { dimension, values } = filter;
      const column = columns[dimension];
      const given = values.filter((value) => value !== null);
      // A value that is not a UUID matches no id.
      const list = isId(dimension) ? sql`${given.filter(isUuid)}::uuid[]` : sql`${given}::text[]`;
      const isMissing = values.includes(null) ? sql`${column} IS NULL` : sql`false`;
      return sql`(${isMissing} OR coalesce(${column} = ANY(${list}), false))`;
    }
  }
}

function joined(sql: Sql, fragments: readonly SqlFragment[], operator: SqlFragment): SqlFragment {
  return sql`(${fragments.reduce((all, fragment) => sql`${all}${operator}${fragment}`)})`;
}
