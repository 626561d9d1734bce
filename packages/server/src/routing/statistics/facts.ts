import type { Piece, Sql } from '../../platform/database.ts';
import { isUuid, type AccountId, type SiteId } from '../../platform/ids.ts';
import { isId, type Dimension, type Filter } from './filter.ts';
import type { StatisticsQuery } from './query.ts';

/**
 * What a statistic counts, as SQL. One row is one fact: a sub-engagement, a visit of a queue, or a presence interval. An operator
 * may have several sites and teams; if `isRepeated`, a fact may have one row for each.
 */
export interface Facts {
  /** The FROM clause, limited to the sites and the range by an index. */
  readonly source: Piece;
  /** Identifies a fact. */
  readonly id: Piece;
  readonly startedAt: Piece;
  readonly endedAt: Piece;
  readonly columns: Readonly<Record<Dimension, Piece>>;
  readonly isRepeated: boolean;
}

/** Whether the query groups or filters by any of the dimensions. */
type Uses = (...any: readonly Dimension[]) => boolean;

/** Statistics call the medium text `chat`. */
const mediumName = (sql: Sql, column: Piece): Piece => sql`CASE ${column} WHEN 'text' THEN 'chat' ELSE ${column} END`;

/** Every dimension as NULL; a statistic overrides those it has. */
const missing = (sql: Sql): Readonly<Record<Dimension, Piece>> => ({
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
 * engagements_by_site_and_sub and sub_engagements_by_site.
 */
export function subEngagements(sql: Sql, { siteIds, from, to }: StatisticsQuery, uses: Uses): Facts {
  const sites = [...siteIds];
  const team = uses('team_id');
  return {
    source: sql`
      (SELECT e.sub_engagement_id AS id, e.site_id, e.operator_id, e.operator_team_ids, e.media,
              coalesce(e.highest_media, e.media) AS highest_media, e.end_reason, e.queue_id, e.request_id,
              e.sub_started_at AS started_at, e.ended_at
         FROM engagements e
        WHERE e.site_id = ANY(${sites}::uuid[]) AND e.sub_started_at >= ${from} AND e.sub_started_at < ${to}
          AND e.ended_at IS NOT NULL
       UNION ALL
       SELECT s.id, s.site_id, s.operator_id, s.operator_team_ids, s.media, coalesce(s.highest_media, s.media), 'transferred',
              e.queue_id, e.request_id, s.started_at, s.ended_at
         FROM sub_engagements s
         JOIN engagements e ON e.id = s.engagement_id
        WHERE s.site_id = ANY(${sites}::uuid[]) AND s.started_at >= ${from} AND s.started_at < ${to}) AS fact
      ${uses('type') ? sql`LEFT JOIN engagement_requests request ON request.id = fact.request_id` : sql``}
      ${team ? sql`LEFT JOIN LATERAL unnest(fact.operator_team_ids) AS team (id) ON true` : sql``}`,
    id: sql`fact.id`,
    startedAt: sql`fact.started_at`,
    endedAt: sql`fact.ended_at`,
    isRepeated: team,
    columns: {
      ...missing(sql),
      site_id: sql`fact.site_id`,
      queue_id: sql`fact.queue_id`,
      operator_id: sql`fact.operator_id`,
      ...(team ? { team_id: sql`team.id` } : {}),
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
    id: sql`fact.ctid`,
    startedAt: sql`fact.entered_at`,
    endedAt: sql`fact.left_at`,
    isRepeated: false,
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

/** Presence intervals that overlap the range, clipped to it. */
export function presence(sql: Sql, query: StatisticsQuery, uses: Uses): Facts {
  const { siteIds, from, to } = query;
  const sites = sql`${[...siteIds]}::uuid[]`;
  // An interval is split by site and team only if the query uses one of them.
  const isRepeated = uses('site_id', 'team_id');
  const memberships = sql`
      JOIN LATERAL unnest(kept.site_ids, kept.team_ids) AS member (site_id, team_id) ON member.site_id = ANY(${sites})`;
  return {
    source: sql`
      (${intervalsInRange(sql, query)}) AS kept
      CROSS JOIN LATERAL (
        SELECT greatest(kept.started_at, ${from}) AS started_at, least(${to}, ${intervalEnd(sql)}) AS ended_at) AS fact
      ${isRepeated ? memberships : sql``}`,
    id: sql`kept.id`,
    startedAt: sql`fact.started_at`,
    endedAt: sql`fact.ended_at`,
    isRepeated,
    columns: {
      ...missing(sql),
      ...(isRepeated ? { site_id: sql`member.site_id`, team_id: sql`member.team_id` } : {}),
      operator_id: sql`kept.operator_id`,
      type: presenceType(sql),
      user_type: sql`'operator'`,
    },
  };
}

interface IntervalsQuery {
  readonly accountId: AccountId;
  readonly siteIds: readonly SiteId[];
  readonly from: Date;
  readonly to: Date;
}

/**
 * Intervals of the account's operators on the sites that may overlap the range: those that start in it, and of each operator the
 * last ended one before it (they follow each other), the current one, and ended ones that overlap others. Those that start in the
 * range are joined and not looked up, so that the planner reads a long range of a large account in one scan, and any other by the
 * primary key. The others are served by the primary key, presence_intervals_open and presence_intervals_overlapping.
 */
export function intervalsInRange(sql: Sql, { accountId, siteIds, from, to }: IntervalsQuery): Piece {
  const sites = sql`${[...siteIds]}::uuid[]`;
  const columns = sql`i.id, i.engaged, i.available, i.media, i.reason, i.site_ids, i.team_ids, i.started_at, i.ended_at`;
  return sql`
        SELECT o.id AS operator_id, o.presence_expires_at, ${columns}
          FROM operators o
          JOIN presence_intervals i ON i.operator_id = o.id
         WHERE o.account_id = ${accountId} AND i.account_id = ${accountId} AND i.started_at >= ${from} AND i.started_at < ${to}
           AND i.site_ids && ${sites}
        UNION ALL
        SELECT o.id, o.presence_expires_at, earlier.*
          FROM operators o
         CROSS JOIN LATERAL (
               (SELECT ${columns}
                  FROM presence_intervals i
                 WHERE i.operator_id = o.id AND i.started_at < ${from} AND i.ended_at IS NOT NULL AND NOT i.overlapping
                 ORDER BY i.started_at DESC, i.id DESC
                 LIMIT 1)
               UNION ALL
               SELECT ${columns}
                 FROM presence_intervals i
                WHERE i.account_id = o.account_id AND i.operator_id = o.id AND i.started_at < ${from} AND i.ended_at IS NULL
               UNION ALL
               SELECT ${columns}
                 FROM presence_intervals i
                WHERE i.operator_id = o.id AND i.started_at < ${from} AND i.ended_at IS NOT NULL AND i.overlapping) AS earlier
         WHERE o.account_id = ${accountId} AND earlier.site_ids && ${sites}`;
}

/** The end of the interval `kept`, or now if it has not ended. */
export const intervalEnd = (sql: Sql): Piece => sql`
  coalesce(kept.ended_at, CASE WHEN kept.engaged THEN now() ELSE least(now(), kept.presence_expires_at) END)`;

/**
 * The state of the operator in the interval `kept`. Of several media the highest is shown; text is shown as `chat`. Reasons are free
 * text, so a reason that equals the name of a state is reported as `away`.
 */
export const presenceType = (sql: Sql): Piece => sql`
  CASE WHEN kept.engaged THEN 'engaged'
       WHEN kept.available AND 'video' = ANY(kept.media) THEN 'video'
       WHEN kept.available AND kept.media && '{audio,phone}' THEN 'audio'
       WHEN kept.available AND kept.media <> '{}' THEN 'chat'
       WHEN kept.reason IN ('', 'engaged', 'video', 'audio', 'chat') THEN 'away'
       ELSE coalesce(kept.reason, 'away') END`;

/** The filter as an SQL condition that is never NULL. */
export function conditionOf(sql: Sql, filter: Filter | null, columns: Facts['columns']): Piece {
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

function joined(sql: Sql, pieces: readonly Piece[], operator: Piece): Piece {
  return sql`(${pieces.reduce((all, piece) => sql`${all}${operator}${piece}`)})`;
}
