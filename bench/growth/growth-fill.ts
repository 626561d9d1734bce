import type { Sql } from '../../packages/server/src/platform/database/database.ts';

/** How much an account has behind it. */
export interface HistorySize {
  readonly engagements: number;
  readonly messagesEach: number;
  readonly events: number;
  readonly operators: number;
}

/** Whose history it is. */
export interface HistoryOwner {
  readonly accountId: string;
  readonly siteId: string;
  /** The operator who reads the lists, and has had an engagement of a hundred. */
  readonly selfId: string;
}

/** Days over which the engagements are spread, and those that the event log and the audit log have. */
export const historyDays = 200;
const logDays = 20;

/** As if the account had been used for months. Ids are made of names, so that rows refer to each other. */
export async function fillHistory(sql: Sql, owner: HistoryOwner, size: HistorySize): Promise<void> {
  await sql`SET synchronous_commit = off`;
  // Triggers and foreign keys would take most of the time. What they would do is not measured.
  await sql`SET session_replication_role = replica`;
  await fillPeople(sql, owner, size);
  await fillEngagements(sql, owner, size);
  await fillVisits(sql, owner);
  await fillPresence(sql, owner, size);
  await fillLogs(sql, owner, size);
  await sql`SET session_replication_role = DEFAULT`;
  await sql`VACUUM ANALYZE`;
}

/** Visitors: one for every five engagements. Queues: ten. */
async function fillPeople(sql: Sql, { accountId, siteId }: HistoryOwner, size: HistorySize): Promise<void> {
  await sql`
    INSERT INTO visitors (id, account_id, site_id, name)
    SELECT md5('visitor ' || n)::uuid, ${accountId}, ${siteId}, 'Visitor ' || n
      FROM generate_series(0, ${size.engagements}::integer / 5) n`;
  await sql`
    INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, available)
    SELECT md5('operator ' || n)::uuid, ${accountId}, 'Operator ' || n, 'operator-' || n || '@bench', 'operator', 1, n % 2 = 0
      FROM generate_series(1, ${size.operators}::integer) n`;
  await sql`
    INSERT INTO operator_assignments (account_id, operator_id, site_id, role)
    SELECT ${accountId}, md5('operator ' || n)::uuid, ${siteId}, 'operator' FROM generate_series(1, ${size.operators}::integer) n`;
  await sql`
    INSERT INTO queues (id, account_id, site_id, name, capacity_policy, routing_policy, when_unstaffed, operator_ranking_enabled)
    SELECT md5('queue ' || n)::uuid, ${accountId}, ${siteId}, 'Queue ' || n, '{"type":"fixed","capacity":100}', '{}', 'accept', false
      FROM generate_series(0, 9) n`;
}

const notes = JSON.stringify({ source: null, platform: 'web', mediaOptions: null, message: null, webhooks: [] });

/** Oldest first. One of ten was transferred by an operator to the next. Operators have two teams. */
async function fillEngagements(
  sql: Sql,
  { accountId, siteId, selfId }: HistoryOwner,
  size: HistorySize,
): Promise<void> {
  await sql`
    CREATE TEMP TABLE life AS
    SELECT n, md5('engagement ' || n)::uuid AS id, md5('visitor ' || n / 5)::uuid AS visitor_id,
           CASE WHEN n % 100 = 0 THEN ${selfId}::uuid ELSE md5('operator ' || 1 + n % ${size.operators}::integer)::uuid END AS operator_id,
           ARRAY[md5('team ' || n % 20)::uuid, md5('team ' || 20 + n % 25)::uuid] AS team_ids,
           date_trunc('milliseconds', now() - (${size.engagements}::integer - n) * interval '1 day' * ${historyDays}::integer / ${size.engagements}::integer) AS at
      FROM generate_series(0, ${size.engagements}::integer - 1) n`;
  await sql`
    INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, queue_id, ticket_id,
                                     engagement_id, state, timeout_ms, notes, created_at, updated_at)
    SELECT md5('request ' || n)::uuid, ${accountId}, ${siteId}, 'ticket', 'visitor', visitor_id, operator_id, 'text',
           md5('queue ' || n % 10)::uuid, md5('ticket ' || n)::uuid, id, 'accepted', 30000, ${notes}::text::json, at, at
      FROM life`;
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at,
                             media, request_id, ticket_id, queue_id, end_reason, started_at, ended_at, updated_at, operator_team_ids)
    SELECT id, ${accountId}, ${siteId}, ${siteId}, visitor_id, operator_id, md5('sub ' || n)::uuid,
           at + CASE WHEN n % 10 = 0 THEN interval '2 minutes' ELSE interval '0' END, 'text', md5('request ' || n)::uuid,
           md5('ticket ' || n)::uuid, md5('queue ' || n % 10)::uuid, 'operator_hung_up', at, at + interval '5 minutes', at, team_ids
      FROM life`;
  await sql`
    INSERT INTO sub_engagements (id, account_id, engagement_id, operator_id, site_id, media, started_at, ended_at, operator_team_ids,
                                 engagement_started_at)
    SELECT md5('former ' || n)::uuid, ${accountId}, id, md5('operator ' || 1 + (n / 10) % ${size.operators}::integer)::uuid, ${siteId}, 'text',
           at, at + interval '2 minutes', team_ids, at
      FROM life WHERE n % 10 = 0`;
  await sql`
    INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type, content, status,
                               created_at)
    SELECT ${accountId}, id, md5('sub ' || n)::uuid, gen_random_uuid(), 'visitor', visitor_id, 'operator', 'chat',
           'What I have to say, number ' || k, 'delivered', at + k * interval '1 second'
      FROM life, generate_series(1, ${size.messagesEach}::integer) k`;
}

async function fillVisits(sql: Sql, { accountId, siteId }: HistoryOwner): Promise<void> {
  await sql`
    INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, refusals, queue_ids,
                               entered_at, engagement_id, engaged_queue_id, notes, enqueued_at, ended_at, updated_at)
    SELECT md5('ticket ' || n)::uuid, ${accountId}, ${siteId}, visitor_id, n, 'visitor', 'text', 'engaged', '', '{}', '{}',
           ARRAY[md5('queue ' || n % 10)::uuid], ARRAY[at - interval '1 minute'], id, md5('queue ' || n % 10)::uuid, '{}',
           at - interval '1 minute', at, at
      FROM life`;
  await sql`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome)
    SELECT ${accountId}, md5('queue ' || n % 10)::uuid, md5('ticket ' || n)::uuid, at - interval '1 minute', at - interval '1 minute', at,
           CASE WHEN n % 7 = 0 THEN 'canceled' ELSE 'engaged' END
      FROM life`;
}

/** As many intervals as engagements, one after the other for each operator. */
async function fillPresence(sql: Sql, { accountId, siteId }: HistoryOwner, size: HistorySize): Promise<void> {
  await sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
    SELECT ${accountId}, md5('operator ' || 1 + n % ${size.operators}::integer)::uuid, n % 2 = 0, true, '{text}',
           ARRAY[${siteId}::uuid, ${siteId}::uuid], team_ids, at, at + interval '10 minutes'
      FROM life`;
}

/** The events and the audit log of the last days, evenly, each event in a transaction of its own. */
async function fillLogs(sql: Sql, { accountId, siteId, selfId }: HistoryOwner, size: HistorySize): Promise<void> {
  for (const log of ['events', 'audit_log'] as const)
    for (let day = 0; day <= logDays; day += 1)
      await sql`SELECT make_day(${log}, ${log === 'events' ? 'occurred_at' : 'at'}, (now() AT TIME ZONE 'UTC')::date - ${day}::integer)`;
  await sql`
    INSERT INTO events (account_id, id, type, site_id, engagement_id, visitor_id, occurred_at, payload, seq, xid)
    SELECT ${accountId}, gen_random_uuid(), 'engagement.chat.message', ${siteId}, md5('engagement ' || n % ${size.engagements}::integer)::uuid,
           md5('visitor ' || n % ${size.engagements}::integer / 5)::uuid,
           now() - (${size.events}::integer - n) * interval '1 day' * ${logDays}::integer / ${size.events}::integer,
           json_build_object('n', n, 'text', repeat('x', 200)), nextval('events_seq_seq'), (1 + n)::text::xid8
      FROM generate_series(0, ${size.events}::integer - 1) n`;
  await sql`
    INSERT INTO audit_log (account_id, id, at, site_ids, of_each, actor_id, actor_name, via, action, target_type, target_id, changes,
                           request_id)
    SELECT ${accountId}, gen_random_uuid(), now() - (${size.engagements}::integer - n) * interval '1 day' * ${logDays}::integer / ${size.engagements}::integer,
           ARRAY[${siteId}::uuid], true, ${selfId}, 'Bench', 'api_key', 'queue.update', 'queue', md5('queue ' || n % 10), '[]', 'bench'
      FROM generate_series(0, ${size.engagements}::integer - 1) n`;
}
