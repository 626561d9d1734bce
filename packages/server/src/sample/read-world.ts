import type { Piece, Sql } from '../platform/database.ts';
import type {
  Extent,
  UnderWay,
  World,
  WorldEngagement,
  WorldOperator,
  WorldRequest,
  WorldTicket,
} from '@usher/sample/world';
import { longestLasting } from '../routing/load-board.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

type Where = Pick<SampleRow, 'account_id' | 'site_id' | 'operator_ids'>;

/** What is going on at the sample site. Everything is found by keys, and only what has not ended is looked at. */
export async function readWorld(sql: Sql, sample: Where): Promise<World> {
  const [operators, teams, queues, tickets, requests, engagements] = await Promise.all([
    readOperators(sql, sample),
    readTeams(sql, sample),
    readQueues(sql, sample),
    readTickets(sql, sample),
    readRequests(sql, sample),
    readEngagements(sql, sample),
  ]);
  return { operators, teams, queues, tickets, requests, engagements };
}

const ms = (sql: Sql, column: string) => sql`extract(epoch FROM ${sql(column)})::float8 * 1000`;

/** Of visitors `v`: we speak for them. */
const ours = (sql: Sql, { site_id }: Where) => sql`
  (v.site_id = ${site_id} AND coalesce(starts_with(v.external_id, ${visitorMark}), false))`;

async function readOperators(sql: Sql, { site_id, operator_ids }: Where): Promise<WorldOperator[]> {
  return sql<WorldOperator[]>`
    SELECT o.id, array_position(${operator_ids}::uuid[], o.id) - 1 AS player, o.enabled,
           o.enabled AND o.available AND coalesce(o.presence_expires_at > now(), true) AS available,
           o.presence_reason AS reason, ${ms(sql, 'o.presence_set_at')} AS "saidAt",
           ${ms(sql, 'o.presence_expires_at')} AS "expiresAt"
      FROM operator_assignments a JOIN operators o ON o.id = a.operator_id
     WHERE a.site_id = ${site_id}`;
}

async function readTeams(sql: Sql, { account_id, site_id }: Where): Promise<string[]> {
  // Served by teams_in_order.
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM teams WHERE account_id = ${account_id} AND site_id = ${site_id}`;
  return rows.map(({ id }) => id);
}

async function readQueues(sql: Sql, { site_id }: Where): Promise<World['queues']> {
  const rows = await sql<World['queues'][number][]>`
    SELECT id, name,
           coalesce(nullif(ARRAY(SELECT jsonb_array_elements_text(routing_policy -> 'media')), '{}'), '{text}') AS media
      FROM queues
     WHERE site_id = ${site_id}
     ORDER BY created_at, id`;
  return rows;
}

async function readTickets(sql: Sql, sample: Where): Promise<WorldTicket[]> {
  // Served by queue_tickets_active.
  return sql<WorldTicket[]>`
    SELECT t.id, t.visitor_id AS "visitorId", ${ours(sql, sample)} AS ours, ${ms(sql, 't.enqueued_at')} AS "enqueuedAt"
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE t.account_id = ${sample.account_id} AND t.ended_at IS NULL AND t.kind = 'visitor'
       AND t.site_id = ${sample.site_id}`;
}

/** Older ones nobody answers any more. */
const longestRequest = '5 minutes';

async function readRequests(sql: Sql, sample: Where): Promise<WorldRequest[]> {
  // Served by engagement_requests_by_site.
  return sql<WorldRequest[]>`
    SELECT r.id, r.kind, r.origin, r.operator_id AS "operatorId", r.visitor_id AS "visitorId", ${ours(sql, sample)} AS ours,
           v.site_id = ${sample.site_id} AS "ofSite", ${ms(sql, 'r.created_at')} AS "createdAt"
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE r.site_id = ${sample.site_id} AND r.created_at > now() - ${longestRequest}::interval AND r.state = 'pending'`;
}

async function readEngagements(sql: Sql, sample: Where): Promise<WorldEngagement[]> {
  return sql<WorldEngagement[]>`
    SELECT e.id, e.operator_id AS "operatorId", e.visitor_id AS "visitorId", ${ours(sql, sample)} AS ours,
           e.queue_id AS "queueId", e.media, ${ms(sql, 'e.started_at')} AS "startedAt",
           EXISTS (SELECT 1 FROM sub_engagements s WHERE s.engagement_id = e.id) AS "handedOn",
           EXISTS (SELECT 1 FROM queue_tickets t
                    WHERE t.account_id = e.account_id AND t.ended_at IS NULL AND t.kind = 'transfer'
                      AND t.engagement_id = e.id) AS handing,
           said.counts AS said, last.message AS last, asked.upgrade
      FROM active_engagements a
      JOIN engagements e ON e.id = a.engagement_id
      JOIN visitors v ON v.id = e.visitor_id
      LEFT JOIN LATERAL (
             SELECT jsonb_build_object('visitor', count(*) FILTER (WHERE m.sender_type = 'visitor'),
                                       'operator', count(*) FILTER (WHERE m.sender_type = 'operator')) AS counts
               FROM chat_messages m
              WHERE m.engagement_id = e.id) said ON true
      LEFT JOIN LATERAL (
             SELECT jsonb_build_object('id', m.id, 'from', m.sender_type, 'at', ${ms(sql, 'm.created_at')},
                                       'arrived', m.status = 'delivered',
                                       'options', coalesce(m.attachment::jsonb -> 'options', '[]')) AS message
               FROM chat_messages m
              WHERE m.engagement_id = e.id AND m.sender_type IN ('visitor', 'operator')
              ORDER BY m.seq DESC
              LIMIT 1) last ON true
      LEFT JOIN LATERAL (
             SELECT jsonb_build_object('id', u.id, 'target', u.target, 'pending', u.state = 'pending',
                                       'createdAt', ${ms(sql, 'u.created_at')}) AS upgrade
               FROM media_upgrade_requests u
              WHERE u.engagement_id = e.id
              ORDER BY u.created_at DESC
              LIMIT 1) asked ON true
     WHERE a.account_id = ${sample.account_id} AND e.site_id = ${sample.site_id}`;
}

/** What has not ended. Offers of tickets and transfers are left out: they end with what they are about. */
export async function readUnderWay(sql: Sql, sample: Where, extent: Extent): Promise<UnderWay[]> {
  const { account_id, site_id, operator_ids } = sample;
  const isOurs = extent === 'all' ? sql`true` : sql`coalesce(starts_with(v.external_id, ${visitorMark}), false)`;
  // A sample operator whom a user has put to work on another site goes on there, until the sample is removed.
  const here = (site: Piece): Piece => (extent === 'all' ? sql`true` : sql`${site} = ${site_id}`);
  return sql<UnderWay[]>`
    SELECT 'ticket' AS what, t.id, t.visitor_id AS "visitorId", NULL::uuid AS "operatorId", NULL AS origin, true AS "ofSite", false AS "isPlayer"
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE t.account_id = ${account_id} AND t.ended_at IS NULL AND t.kind = 'visitor'
       AND t.site_id = ${site_id} AND ${isOurs}
    UNION ALL
    SELECT 'request', r.id, r.visitor_id, r.operator_id, r.origin, v.site_id = ${site_id}, r.operator_id = ANY(${operator_ids}::uuid[])
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE r.account_id = ${account_id} AND r.kind = 'direct' AND r.state = 'pending'
       AND r.created_at > now() - ${longestLasting}::interval
       AND (v.site_id = ${site_id} AND ${isOurs} OR r.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`r.site_id`)})
    UNION ALL
    SELECT 'engagement', e.id, e.visitor_id, e.operator_id, NULL, v.site_id = ${site_id}, e.operator_id = ANY(${operator_ids}::uuid[])
      FROM active_engagements a
      JOIN engagements e ON e.id = a.engagement_id
      JOIN visitors v ON v.id = e.visitor_id
     WHERE a.account_id = ${account_id}
       AND (v.site_id = ${site_id} AND ${isOurs} OR e.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`e.site_id`)}
            OR ${extent === 'all'} AND (e.site_id = ${site_id} OR e.asked_on_site_id = ${site_id}))`;
}
