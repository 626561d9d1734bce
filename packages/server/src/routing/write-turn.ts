import { piece, type Finish, type Sql } from '../platform/database/database.ts';
import { appendRows, appendSubjectEvents, type SubjectEvent, type Traces } from '../events/append.ts';
import { insertVisitors, type NewVisitor } from '../identity/visitors/store.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Changes } from './board/structures/changes.ts';
import { appendUpgradeStates } from './media-upgrade.ts';
import { writeReported } from './on-demand/store.ts';
import type { StateReport } from './on-demand/subjects.ts';
import { isEmptyReport } from './on-demand/watch-states.ts';
import { rowsOf, type TurnRows } from './turn-rows.ts';

/** What a turn writes to the account's row. */
export interface TurnMark {
  readonly accountId: AccountId;
  readonly version: number;
  /** The version before this turn. */
  readonly previous: number;
  readonly seq: number;
  readonly now: number;
  readonly nextDueAt: number | null;
  /** The hint to readers of the log in other processes. It is sent if the turn notifies them of moved queues anyway. */
  readonly hint: string | null;
}

interface TurnEnd {
  readonly traces: Traces;
  readonly newVisitors: readonly NewVisitor[];
  readonly ofTickets: readonly SubjectEvent[];
  readonly report: StateReport;
  readonly finish: Finish;
}

/**
 * Writes all changes and events of a turn in one statement. Each object is written once, in its final state: new ones are
 * inserted, others are updated by their keys. Rows are sent as JSON, one text per table. If the state of operators may have
 * changed, a second statement ends their presence interval and begins the next. Events on demand have a statement of their own.
 */
export async function writeTurn(
  sql: Sql,
  mark: TurnMark,
  changes: Changes,
  { traces, newVisitors, ofTickets, report, finish }: TurnEnd,
): Promise<void> {
  const at = new Date(mark.now);
  const { accountId } = mark;
  const rows = rowsOf(changes, at, traces);
  const onDemand = [...ofTickets, ...report.events];
  // Sent together and run in order: the second statement sees the rows of the first.
  await finish([
    ...(newVisitors.length === 0 ? [] : [insertVisitors(sql, newVisitors)]),
    writeRows(sql, mark, rows),
    ...(rows.states.length === 0 ? [] : [sql`SELECT keep_presence(${at}, ${JSON.stringify(rows.states)}::text::json)`]),
    ...(onDemand.length === 0 ? [] : [appendSubjectEvents(sql, { accountId, at }, onDemand)]),
    ...(isEmptyReport(report) ? [] : [writeReported(sql, accountId, report)]),
  ]);
}

async function writeRows(sql: Sql, mark: TurnMark, rows: TurnRows): Promise<void> {
  const { accountId } = mark;
  const at = new Date(mark.now);
  const topic = rows.moved === 'staff' ? 'queues_of_account' : 'queue_counts';
  await sql`
    WITH turn AS (SELECT ${accountId}::uuid AS account_id, ${at}::timestamptz AS at),
         ${ticketWrites(sql, rows)},
         ${requestWrites(sql, rows)},
         ${engagementWrites(sql, rows, accountId)},
         ${queueWrites(sql, rows)},
         ${presenceWrites(sql, rows)},
         ${messageAndEventWrites(sql, mark, rows)},
         ${rareWrites(sql, rows)}
         moved AS (
           INSERT INTO board_moves (account_id, version, previous, things)
           SELECT turn.account_id, ${mark.version}::bigint, ${mark.previous}::bigint, ${rows.movedIds}::text::jsonb FROM turn),
         turned AS (
           UPDATE accounts
              SET board_version = ${mark.version}, board_tag = (SELECT tag FROM log_epoch_in_force), last_seq = ${mark.seq}, turned_at = turn.at,
                  next_due_at = ${instant(mark.nextDueAt)}
             FROM turn
            WHERE id = turn.account_id)
    SELECT pg_notify('usher_changes', note)
      FROM unnest(${rows.moved === null ? [] : [`${topic}:${accountId}`, ...(mark.hint === null ? [] : [mark.hint])]}::text[]) AS note`;
}

/** Writes the next deadline after a turn that changed nothing else. */
export async function writeNextDue(sql: Sql, { accountId, nextDueAt }: TurnMark): Promise<void> {
  await sql`
    UPDATE accounts SET next_due_at = ${instant(nextDueAt)} WHERE id = ${accountId}`;
}

function instant(at: number | null): Date | null {
  return at === null ? null : new Date(at);
}

function ticketWrites(sql: Sql, rows: TurnRows) {
  return sql`
         new_tickets AS (
           INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to,
                                      never_to, preferred_operator_id, refusals, queue_ids, entered_at, request_id, engagement_id,
                                      engaged_queue_id, notes, address_hash, enqueued_at, ended_at, updated_at)
           SELECT id, turn.account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, never_to,
                  preferred_operator_id, refusals, queue_ids, entered_at, request_id, engagement_id, engaged_queue_id, notes,
                  address_hash, enqueued_at, ended_at, turn.at
             FROM turn, json_to_recordset(${rows.newTickets}::text::json) AS t (
                    id uuid, site_id uuid, visitor_id uuid, seq bigint, kind text, media text, state text, criteria text,
                    narrowed_to uuid[], never_to uuid, preferred_operator_id uuid, refusals jsonb, queue_ids uuid[],
                    entered_at timestamptz[], request_id uuid, engagement_id uuid, engaged_queue_id uuid, notes json,
                    address_hash text, enqueued_at timestamptz, ended_at timestamptz)),
         old_tickets AS (
           UPDATE queue_tickets q
              SET state = t.state, media = t.media, preferred_operator_id = t.preferred_operator_id, refusals = t.refusals,
                  queue_ids = t.queue_ids, entered_at = t.entered_at, request_id = t.request_id, engagement_id = t.engagement_id,
                  engaged_queue_id = t.engaged_queue_id, ended_at = t.ended_at, updated_at = turn.at,
                  -- The address is deleted as soon as it is no longer counted.
                  address_hash = CASE WHEN t.ended_at IS NULL THEN q.address_hash END
             FROM turn, json_to_recordset(${rows.oldTickets}::text::json) AS t (
                    id uuid, state text, media text, preferred_operator_id uuid, refusals jsonb, queue_ids uuid[],
                    entered_at timestamptz[], request_id uuid, engagement_id uuid, engaged_queue_id uuid, ended_at timestamptz)
            WHERE q.id = t.id)`;
}

function requestWrites(sql: Sql, rows: TurnRows) {
  return sql`
         new_requests AS (
           INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, queue_id,
                                            ticket_id, engagement_id, state, fail_reason, fail_message, timeout_ms, notes,
                                            address_hash, created_at, updated_at)
           SELECT id, turn.account_id, site_id, kind, origin, visitor_id, operator_id, media, queue_id, ticket_id,
                  engagement_id, state, fail_reason, fail_message, timeout_ms, notes, address_hash, created_at, turn.at
             FROM turn, json_to_recordset(${rows.newRequests}::text::json) AS r (
                    id uuid, site_id uuid, kind text, origin text, visitor_id uuid, operator_id uuid, media text,
                    queue_id uuid, ticket_id uuid, engagement_id uuid, state text, fail_reason text, fail_message text,
                    timeout_ms integer, notes json, address_hash text, created_at timestamptz)),
         old_requests AS (
           UPDATE engagement_requests e
              SET state = r.state, media = r.media, fail_reason = r.fail_reason, fail_message = r.fail_message,
                  timeout_ms = r.timeout_ms, engagement_id = r.engagement_id, updated_at = turn.at,
                  address_hash = CASE WHEN r.state = 'pending' THEN e.address_hash END
             FROM turn, json_to_recordset(${rows.oldRequests}::text::json) AS r (
                    id uuid, state text, media text, fail_reason text, fail_message text, timeout_ms integer,
                    engagement_id uuid)
            WHERE e.id = r.id)`;
}

function engagementWrites(sql: Sql, rows: TurnRows, accountId: AccountId) {
  return sql`
         new_engagements AS (
           INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media,
                                    request_id, ticket_id, queue_id, end_reason, started_at, ended_at, updated_at,
                                    undelivered_to_visitor, heard_by, highest_media, operator_team_ids)
           SELECT id, turn.account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media, request_id,
                  ticket_id, queue_id, end_reason, started_at, ended_at, turn.at, to_visitor, heard_by,
                  highest_media, operator_team_ids
             FROM turn, json_to_recordset(${rows.newEngagements}::text::json) AS e (
                    id uuid, asked_on_site_id uuid, site_id uuid, visitor_id uuid, operator_id uuid, sub_engagement_id uuid,
                    sub_started_at timestamptz, media text, request_id uuid, ticket_id uuid, queue_id uuid, end_reason text,
                    started_at timestamptz, ended_at timestamptz, to_visitor integer, heard_by uuid[],
                    highest_media text, operator_team_ids uuid[])),
         old_engagements AS (
           UPDATE engagements o
              SET site_id = e.site_id, operator_id = e.operator_id, sub_engagement_id = e.sub_engagement_id,
                  sub_started_at = e.sub_started_at, media = e.media, end_reason = e.end_reason, ended_at = e.ended_at,
                  updated_at = turn.at, undelivered_to_visitor = undelivered_to_visitor + to_visitor,
                  heard_by = e.heard_by,
                  highest_media = e.highest_media, operator_team_ids = e.operator_team_ids
             FROM turn, json_to_recordset(${rows.oldEngagements}::text::json) AS e (
                    id uuid, site_id uuid, operator_id uuid, sub_engagement_id uuid, sub_started_at timestamptz, media text,
                    end_reason text, ended_at timestamptz, to_visitor integer, heard_by uuid[],
                    highest_media text, operator_team_ids uuid[])
            WHERE o.id = e.id
           RETURNING 1),
         begun AS (
           INSERT INTO active_engagements (account_id, engagement_id)
           SELECT turn.account_id, id FROM turn, unnest(${rows.begun}::uuid[]) AS id),
         ended AS (
           DELETE FROM active_engagements
            WHERE account_id = ${accountId} AND engagement_id = ANY(${rows.ended}::uuid[])),
         subs AS (
           INSERT INTO sub_engagements (id, account_id, engagement_id, operator_id, site_id, media, started_at, ended_at,
                                        highest_media, operator_team_ids)
           SELECT id, turn.account_id, engagement_id, operator_id, site_id, media, started_at, turn.at, highest_media,
                  operator_team_ids
             FROM turn, json_to_recordset(${rows.subEngagements}::text::json) AS e (
                    id uuid, engagement_id uuid, operator_id uuid, site_id uuid, media text, started_at timestamptz,
                    highest_media text, operator_team_ids uuid[]))`;
}

function queueWrites(sql: Sql, rows: TurnRows) {
  return sql`
         states AS (
           INSERT INTO queue_states AS s (queue_id, account_id, visitors, standing, waits, pace_ms, left_others_at)
           SELECT queue_id, turn.account_id, visitors, standing, waits, pace_ms, left_others_at
             FROM turn, json_to_recordset(${rows.queues}::text::json) AS q (
                    queue_id uuid, visitors integer, standing text, waits bigint[], pace_ms float8, left_others_at timestamptz)
           ON CONFLICT (queue_id) DO UPDATE
              SET visitors = excluded.visitors, standing = excluded.standing, waits = excluded.waits,
                  pace_ms = excluded.pace_ms, left_others_at = excluded.left_others_at),
         visits AS (
           INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome,
                                     destination_queue_id)
           SELECT turn.account_id, queue_id, ticket_id, enqueued_at, entered_at, turn.at, outcome, destination_queue_id
             FROM turn, json_to_recordset(${rows.visits}::text::json) AS v (
                    queue_id uuid, ticket_id uuid, enqueued_at timestamptz, entered_at timestamptz, outcome text,
                    destination_queue_id uuid))`;
}

function presenceWrites(sql: Sql, rows: TurnRows) {
  return sql`
         presences AS (
           UPDATE operators o
              SET available = p.available, media = p.media, presence_expires_at = p.expires_at, presence_reason = p.reason,
                  presence_set_at = turn.at
             FROM turn, json_to_recordset(${rows.presences}::text::json) AS p (
                    id uuid, available boolean, media text[], expires_at timestamptz, reason text)
            WHERE o.id = p.id),
         leases AS (
           UPDATE visitors v SET presence_expires_at = l.expires_at
             FROM json_to_recordset(${rows.visitors}::text::json) AS l (id uuid, expires_at timestamptz)
            WHERE v.id = l.id)`;
}

function messageAndEventWrites(sql: Sql, { accountId, now }: TurnMark, rows: TurnRows) {
  return sql`
         messages AS (
           INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id, target, type,
                                      content, attachment, status, created_at)
           SELECT turn.account_id, engagement_id, sub_engagement_id, id, sender_type, sender_id,
                  CASE sender_type WHEN 'operator' THEN 'visitor' ELSE 'operator' END,
                  CASE sender_type WHEN 'operator' THEN 'chat' ELSE 'system_message' END, content, attachment, 'sent', turn.at
             FROM turn, json_to_recordset(${rows.messages}::text::json) AS m (
                    id uuid, engagement_id uuid, sub_engagement_id uuid, sender_type text, sender_id uuid, content text,
                    attachment json)),
         ${appendRows(sql, { accountId, at: new Date(now) }, rows.events, engagementsAreLocked(sql))}`;
}

/** Events are appended after the rows of their engagements are locked, so that an earlier message precedes the end event. */
const engagementsAreLocked = piece((sql) => sql`(SELECT count(*) FROM old_engagements) >= 0`);

/** Parts that few turns need. Each part costs planning time, so it is added only where there is something to write. */
function rareWrites(sql: Sql, rows: TurnRows) {
  const renewals = rows.renewed.length === 0 ? sql`` : renewalWrites(sql, rows);
  const upgrades = rows.upgrades.length + rows.hungUp.length === 0 ? sql`` : upgradeWrites(sql, rows);
  const calls = rows.newCalls.length + rows.oldCalls.length === 0 ? sql`` : callWrites(sql, rows);
  return sql`${renewals}${upgrades}${calls}`;
}

function renewalWrites(sql: Sql, rows: TurnRows) {
  return sql`
         renewals AS (
           UPDATE operators o SET presence_expires_at = r.expires_at
             FROM json_to_recordset(${JSON.stringify(rows.renewed)}::text::json) AS r (id uuid, expires_at timestamptz)
            WHERE o.id = r.id AND o.id <> ALL(${rows.said}::uuid[])),`;
}

/** Accepts media upgrades, and cancels the pending ones of engagements in which one side hung up. */
function upgradeWrites(sql: Sql, rows: TurnRows) {
  return sql`
         upgraded AS (
           UPDATE media_upgrade_requests u
              SET state = CASE WHEN u.id = ANY(${rows.upgrades}::uuid[]) THEN 'accepted' ELSE 'canceled' END,
                  updated_at = turn.at
             FROM turn
            WHERE u.id = ANY(${rows.upgrades}::uuid[])
               OR (u.engagement_id = ANY(${rows.hungUp}::uuid[]) AND u.state = 'pending')
           RETURNING u.*),
         upgrade_states AS (${appendUpgradeStates(sql)}),`;
}

function callWrites(sql: Sql, rows: TurnRows) {
  return sql`
         old_calls AS (
           UPDATE calls o
              -- A side may report that it is connected while the turn waits for the row.
              SET ended_at = greatest(c.ended_at, o.connected_at), ended_by = c.ended_by
             FROM json_to_recordset(${JSON.stringify(rows.oldCalls)}::text::json) AS c (
                    id uuid, ended_at timestamptz, ended_by text)
            -- Engagements are locked before their calls, as in markConnected, so that the two cannot deadlock.
            WHERE o.id = c.id AND (SELECT count(*) FROM old_engagements) >= 0
           RETURNING 1),
         new_calls AS (
           INSERT INTO calls (id, account_id, engagement_id, sub_engagement_id, started_at, ended_at, ended_by)
           SELECT id, turn.account_id, engagement_id, sub_engagement_id, started_at, ended_at, ended_by
             FROM turn, json_to_recordset(${JSON.stringify(rows.newCalls)}::text::json) AS c (
                    id uuid, engagement_id uuid, sub_engagement_id uuid, started_at timestamptz, ended_at timestamptz,
                    ended_by text)
            -- One open call per engagement (calls_one_at_a_time): the previous call ends before the next is inserted.
            WHERE (SELECT count(*) FROM old_calls) >= 0),`;
}
