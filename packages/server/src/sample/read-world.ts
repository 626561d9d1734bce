import type { SqlFragment, Sql } from '../platform/database/database.ts';
import type {
  Scope,
  ActiveItem,
  World,
  WorldEngagement,
  WorldOperator,
  WorldRequest,
  WorldTicket,
} from '@usher/sample/world';
import { maxLastingRequestAge } from '../routing/storage/request.ts';
import { visitorMark, type SampleRow } from './sample-data.ts';

type SampleScope = Pick<SampleRow, 'account_id' | 'site_id' | 'operator_ids'>;

/** Reads the current state of the sample site: only what has not ended, and only by indexes. */
export async function readWorld(sql: Sql, sample: SampleScope): Promise<World> {
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

/** A condition on visitors `v`: the visitor is simulated. */
const isSimulated = (sql: Sql, { site_id }: SampleScope) => sql`
  (v.site_id = ${site_id} AND coalesce(starts_with(v.external_id, ${visitorMark}), false))`;

async function readOperators(sql: Sql, { site_id, operator_ids }: SampleScope): Promise<WorldOperator[]> {
  return sql<WorldOperator[]>`
    SELECT o.id, array_position(${operator_ids}::uuid[], o.id) - 1 AS player, o.enabled,
           o.enabled AND o.available AND coalesce(o.presence_expires_at > now(), true) AS available,
           o.presence_reason AS reason, ${ms(sql, 'o.presence_set_at')} AS "setAt",
           ${ms(sql, 'o.presence_expires_at')} AS "expiresAt"
      FROM operator_assignments a JOIN operators o ON o.id = a.operator_id
     WHERE a.site_id = ${site_id}`;
}

async function readTeams(sql: Sql, { account_id, site_id }: SampleScope): Promise<string[]> {
  // Served by teams_in_order.
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM teams WHERE account_id = ${account_id} AND site_id = ${site_id}`;
  return rows.map(({ id }) => id);
}

async function readQueues(sql: Sql, { site_id }: SampleScope): Promise<World['queues']> {
  const rows = await sql<World['queues'][number][]>`
    SELECT id, name,
           coalesce(nullif(ARRAY(SELECT jsonb_array_elements_text(routing_policy -> 'media')), '{}'), '{text}') AS media
      FROM queues
     WHERE site_id = ${site_id}
     ORDER BY created_at, id`;
  return rows;
}

async function readTickets(sql: Sql, sample: SampleScope): Promise<WorldTicket[]> {
  // Served by queue_tickets_active.
  return sql<WorldTicket[]>`
    SELECT t.id, t.visitor_id AS "visitorId", ${isSimulated(sql, sample)} AS simulated, ${ms(sql, 't.enqueued_at')} AS "enqueuedAt"
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE t.account_id = ${sample.account_id} AND t.ended_at IS NULL AND t.kind = 'visitor'
       AND t.site_id = ${sample.site_id}`;
}

/** Older requests are not answered any more. */
const maxRequestAge = '5 minutes';

async function readRequests(sql: Sql, sample: SampleScope): Promise<WorldRequest[]> {
  // Served by engagement_requests_by_site.
  return sql<WorldRequest[]>`
    SELECT r.id, r.kind, r.origin, r.operator_id AS "operatorId", r.visitor_id AS "visitorId", ${isSimulated(sql, sample)} AS simulated,
           v.site_id = ${sample.site_id} AS "ofSite", ${ms(sql, 'r.created_at')} AS "createdAt"
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE r.site_id = ${sample.site_id} AND r.created_at > now() - ${maxRequestAge}::interval AND r.state = 'pending'`;
}

async function readEngagements(sql: Sql, sample: SampleScope): Promise<WorldEngagement[]> {
  return sql<WorldEngagement[]>`
    SELECT e.id, e.operator_id AS "operatorId", e.visitor_id AS "visitorId", ${isSimulated(sql, sample)} AS simulated,
           e.queue_id AS "queueId", e.media, ${ms(sql, 'e.started_at')} AS "startedAt",
           EXISTS (SELECT 1 FROM sub_engagements s WHERE s.engagement_id = e.id) AS "isTransferred",
           EXISTS (SELECT 1 FROM queue_tickets t
                    WHERE t.account_id = e.account_id AND t.ended_at IS NULL AND t.kind = 'transfer'
                      AND t.engagement_id = e.id) AS "isTransferring",
           counted.counts AS "messageCounts", last.message AS last, requested.upgrade
      FROM active_engagements a
      JOIN engagements e ON e.id = a.engagement_id
      JOIN visitors v ON v.id = e.visitor_id
      LEFT JOIN LATERAL (
             SELECT jsonb_build_object('visitor', count(*) FILTER (WHERE m.sender_type = 'visitor'),
                                       'operator', count(*) FILTER (WHERE m.sender_type = 'operator')) AS counts
               FROM chat_messages m
              WHERE m.engagement_id = e.id) counted ON true
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
              LIMIT 1) requested ON true
     WHERE a.account_id = ${sample.account_id} AND e.site_id = ${sample.site_id}`;
}

/** Reads what has not ended. Offers and transfers are left out, because they end with their ticket or engagement. */
export async function readActive(sql: Sql, sample: SampleScope, scope: Scope): Promise<ActiveItem[]> {
  const { account_id, site_id, operator_ids } = sample;
  const isInScope = scope === 'all' ? sql`true` : sql`coalesce(starts_with(v.external_id, ${visitorMark}), false)`;
  // A sample operator whom a user assigned to another site stays active there until the sample is removed.
  const here = (site: SqlFragment): SqlFragment => (scope === 'all' ? sql`true` : sql`${site} = ${site_id}`);
  return sql<ActiveItem[]>`
    SELECT 'ticket' AS kind, t.id, t.visitor_id AS "visitorId", NULL::uuid AS "operatorId", NULL AS origin, true AS "ofSite", false AS "isPlayer"
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE t.account_id = ${account_id} AND t.ended_at IS NULL AND t.kind = 'visitor'
       AND t.site_id = ${site_id} AND ${isInScope}
    UNION ALL
    SELECT 'request', r.id, r.visitor_id, r.operator_id, r.origin, v.site_id = ${site_id}, r.operator_id = ANY(${operator_ids}::uuid[])
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE r.account_id = ${account_id} AND r.kind = 'direct' AND r.state = 'pending'
       AND r.created_at > now() - ${maxLastingRequestAge}::interval
       AND (v.site_id = ${site_id} AND ${isInScope} OR r.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`r.site_id`)})
    UNION ALL
    SELECT 'engagement', e.id, e.visitor_id, e.operator_id, NULL, v.site_id = ${site_id}, e.operator_id = ANY(${operator_ids}::uuid[])
      FROM active_engagements a
      JOIN engagements e ON e.id = a.engagement_id
      JOIN visitors v ON v.id = e.visitor_id
     WHERE a.account_id = ${account_id}
       AND (v.site_id = ${site_id} AND ${isInScope} OR e.operator_id = ANY(${operator_ids}::uuid[]) AND ${here(sql`e.site_id`)}
            OR ${scope === 'all'} AND (e.site_id = ${site_id} OR e.asked_on_site_id = ${site_id}))`;
}
