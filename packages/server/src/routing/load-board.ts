import { smsRequestLifetimeHours } from '@usher/contract/limits';
import type { Medium } from '@usher/contract/media';
import type { Sql } from '../platform/database/database.ts';
import {
  newId,
  type AccountId,
  type OperatorId,
  type QueueId,
  type RequestId,
  type SchedulingPolicyId,
  type SiteId,
  type TeamId,
  type TicketId,
  type VisitorId,
} from '../platform/ids.ts';
import { mediaOf, queueFields, type QueueRow } from '../queues/queue.ts';
import { readHours } from '../schedules/read-hours.ts';
import { newBoard, type Board } from './board/board.ts';
import { mediaSet } from './board/structures/media.ts';
import {
  dropEngagement,
  dropRequest,
  dropTicket,
  putEngagement,
  putQueueMemory,
  putRequest,
  putSite,
  putTicket,
  putVisitorLease,
  type EndedEngagement,
  type StoredEngagement,
  type StoredRequest,
  type StoredTicket,
} from './board/views/rows.ts';
import { longestOfferMs } from './board/rules/outage.ts';
import { dropOperator, dropQueue, putOperator, putQueue } from './board/rules/staffing.ts';
import type { StatusIgnoringCapacity } from '../queues/status.ts';
import type { QueueMemory } from './board/structures/state.ts';

/** The ids of changed rows, by kind. */
export interface MovedIds {
  readonly sites?: readonly string[];
  readonly queues?: readonly string[];
  /** Queues whose counts or state changed, but not their configuration. */
  readonly queue_states?: readonly string[];
  readonly policies?: readonly string[];
  readonly operators?: readonly string[];
  /** Operators whose lease was renewed: their presence looks the same to readers. */
  readonly leases?: readonly string[];
  readonly visitors?: readonly string[];
  readonly tickets?: readonly string[];
  readonly requests?: readonly string[];
  readonly engagements?: readonly string[];
}

/** What one increment of the version of a board has changed. */
export interface Moved extends MovedIds {
  /** Of these rows: those that ended, which is final. They need not be read. Missing in moves of the version before. */
  readonly ended?: {
    readonly tickets: readonly TicketId[];
    readonly requests: readonly RequestId[];
    readonly engagements: readonly EndedEngagement[];
  };
}

/** Loads the account's board from all its active rows. Must run under the lock of the account's row. */
export async function loadBoard(sql: Sql, accountId: AccountId, now: number): Promise<Board> {
  const board = newBoard(newId);
  board.now = now;
  await put(board, sql, accountId, null);
  return board;
}

/** Brings a board up to date with rows changed by other processes or by a change of the configuration. */
export async function catchUp(board: Board, sql: Sql, accountId: AccountId, moved: readonly Moved[]): Promise<void> {
  const all = (kind: keyof MovedIds): string[] => [...new Set(moved.flatMap((movedIds) => movedIds[kind] ?? []))];
  const ended = endedIn(moved);
  const others = (kind: keyof EndedRows): string[] => all(kind).filter((id) => !ended[kind].has(id));
  const movedIds = {
    sites: all('sites'),
    queues: all('queues'),
    queue_states: all('queue_states'),
    policies: all('policies'),
    operators: [...new Set([...all('operators'), ...all('leases')])],
    leases: [],
    visitors: all('visitors'),
    tickets: others('tickets'),
    requests: others('requests'),
    engagements: others('engagements'),
  };
  await put(board, sql, accountId, { movedIds, ended });
}

/** By id. */
interface EndedRows {
  readonly engagements: ReadonlyMap<string, EndedEngagement>;
  readonly tickets: ReadonlyMap<string, TicketId>;
  readonly requests: ReadonlyMap<string, RequestId>;
}

function endedIn(moved: readonly Moved[]): EndedRows {
  const ended = moved.flatMap((each) => each.ended ?? []);
  return {
    engagements: new Map(ended.flatMap(({ engagements }) => engagements.map((each) => [each.id, each]))),
    tickets: new Map(ended.flatMap(({ tickets }) => tickets.map((id) => [id, id]))),
    requests: new Map(ended.flatMap(({ requests }) => requests.map((id) => [id, id]))),
  };
}

interface ChangedRows {
  readonly movedIds: Required<MovedIds>;
  readonly ended: EndedRows;
}

/** `null` loads everything. The statements are sent together; their rows are put in the order of their dependencies. */
async function put(board: Board, sql: Sql, accountId: AccountId, changed: ChangedRows | null): Promise<void> {
  const { movedIds, ended } = changed ?? { movedIds: null, ended: null };
  const skip = (kind: keyof MovedIds): boolean => movedIds !== null && movedIds[kind].length === 0;
  const ids = (kind: keyof MovedIds): readonly string[] | null => movedIds?.[kind] ?? null;
  const queueIds = movedIds === null ? null : await queuesMoved(sql, movedIds);
  const [sites, queues, states, operators, visitors, engagements, tickets, requests] = await Promise.all([
    skip('sites') ? [] : readSites(sql, accountId, ids('sites')),
    queueIds?.length === 0 ? [] : readQueues(sql, accountId, queueIds),
    skip('queue_states') ? [] : readStates(sql, ids('queue_states') ?? []),
    skip('operators') ? [] : readOperators(sql, accountId, ids('operators')),
    skip('visitors') ? [] : readLeases(sql, ids('visitors') ?? []),
    skip('engagements') ? [] : readEngagements(sql, accountId, ids('engagements')),
    skip('tickets') ? [] : readTickets(sql, accountId, ids('tickets')),
    skip('requests') ? [] : readRequests(sql, accountId, ids('requests')),
  ]);
  for (const site of sites) putSite(board, site);
  await putQueues(board, sql, queues, queueIds ?? []);
  for (const { queue_id, ...memory } of states) putQueueMemory(board, queue_id, memory);
  // An engagement that ended before the clock was set back lies in the future.
  for (const row of operators) putOperator(board, settingsOf(row), Math.min(row.last_engaged_at ?? 0, board.now));
  dropDeleted(board, ids('operators') ?? [], operators);
  for (const engagement of ended?.engagements.values() ?? []) dropEngagement(board, engagement);
  for (const row of engagements) putEngagement(board, row);
  for (const id of ended?.tickets.values() ?? []) dropTicket(board, id);
  for (const row of tickets) putTicket(board, row);
  for (const id of ended?.requests.values() ?? []) dropRequest(board, id);
  for (const row of requests) putRequest(board, row);
  for (const { id, lease_until } of visitors) putVisitorLease(board, id, lease_until);
}

async function queuesMoved(sql: Sql, { queues, policies }: Required<MovedIds>): Promise<readonly string[]> {
  if (policies.length === 0) return queues;
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM queues WHERE scheduling_policy_id = ANY(${[...policies]}::uuid[])`;
  return [...new Set([...queues, ...rows.map((row) => row.id)])];
}

async function readSites(sql: Sql, accountId: AccountId, ids: readonly string[] | null) {
  const rows = await sql<
    {
      id: SiteId;
      reactive: number;
      proactive: number;
      missed: boolean;
      callsBesideChats: boolean;
      timeout: number;
      openPerAddress: number;
      needsPresence: boolean;
    }[]
  >`SELECT id, reactive_call_timeout AS reactive, proactive_call_timeout AS proactive,
           missed_call_unavailability_enabled AS missed, calls_beside_chats AS "callsBesideChats",
           queue_ticket_timeout_sec AS timeout,
           (visitor_limits ->> 'open_tickets_per_address')::integer AS "openPerAddress",
           ticket_needs_presence AS "needsPresence"
      FROM sites
     WHERE account_id = ${accountId} AND (${ids === null} OR id = ANY(${[...(ids ?? [])]}::uuid[]))`;
  return rows.map((row) => ({
    id: row.id,
    reactiveMs: row.reactive * 1000,
    proactiveMs: row.proactive * 1000,
    missedMakesUnavailable: row.missed,
    callsBesideChats: row.callsBesideChats,
    ticketTimeoutMs: row.timeout * 1000,
    openPerAddress: row.openPerAddress,
    ticketNeedsPresence: row.needsPresence,
  }));
}

type StoredQueue = QueueRow & { ranks: Record<OperatorId, number> } & StoredMemory;

interface StoredMemory {
  readonly standing: StatusIgnoringCapacity | null;
  readonly waits: number[] | null;
  readonly pace_ms: number | null;
  readonly left_others_at: number | null;
}

const memoryColumns = (sql: Sql) => sql`
  s.standing, s.waits::float8[] AS waits, s.pace_ms, extract(epoch FROM s.left_others_at)::float8 * 1000 AS left_others_at`;

async function readQueues(sql: Sql, accountId: AccountId, ids: readonly string[] | null): Promise<StoredQueue[]> {
  return sql<StoredQueue[]>`
    SELECT ${sql(queueFields.columns.map((column) => `q.${column}`))}, ${memoryColumns(sql)},
           coalesce((SELECT jsonb_object_agg(r.operator_id, r.rank) FROM queue_rankings r WHERE r.queue_id = q.id), '{}') AS ranks
      FROM queues q
      LEFT JOIN queue_states s ON s.queue_id = q.id
     WHERE q.account_id = ${accountId} AND (${ids === null} OR q.id = ANY(${[...(ids ?? [])]}::uuid[]))
     ORDER BY q.created_at, q.id`;
}

async function readStates(sql: Sql, ids: readonly string[]) {
  const rows = await sql<(StoredMemory & { queue_id: QueueId })[]>`
    SELECT s.queue_id, ${memoryColumns(sql)} FROM queue_states s WHERE s.queue_id = ANY(${[...ids]}::uuid[])`;
  return rows.map((row) => ({ queue_id: row.queue_id, ...memoryOf(row) }));
}

function memoryOf({ standing, waits, pace_ms, left_others_at }: StoredMemory): QueueMemory {
  return { lastStatus: standing ?? 'opened', waits: waits ?? [], paceMs: pace_ms, leftOthersAt: left_others_at };
}

async function putQueues(
  board: Board,
  sql: Sql,
  rows: readonly StoredQueue[],
  requested: readonly string[],
): Promise<void> {
  const policyIds = new Set(rows.flatMap((row) => row.scheduling_policy_id ?? []));
  const hours = await readHours(sql, [...policyIds]);
  for (const row of rows) {
    const hoursOf = (id: SchedulingPolicyId | null) => (id === null ? null : (hours.get(id) ?? null));
    putQueue(
      board,
      {
        id: row.id,
        siteId: row.site_id,
        media: mediaSet(mediaOf(row)),
        teams: row.routing_policy.team_ids ?? [],
        capacityPolicy: row.capacity_policy,
        whenUnstaffed: row.when_unstaffed,
        rankingEnabled: row.operator_ranking_enabled,
        ranks: new Map(Object.entries(row.ranks).filter(([, rank]) => rank < 10) as [OperatorId, number][]),
        affinityMs: row.operator_affinity === null ? null : row.operator_affinity.time_window_sec * 1000,
        fallbackId: row.fallback_queue_id,
        hours: hoursOf(row.scheduling_policy_id),
        welcomeMessage: row.welcome_message,
      },
      memoryOf(row),
    );
  }
  const found = new Set<string>(rows.map((row) => row.id));
  for (const id of requested) {
    const queue = found.has(id) ? undefined : board.queues.get(id as QueueId);
    if (queue !== undefined) dropQueue(board, queue);
  }
}

interface StoredOperator {
  readonly id: OperatorId;
  readonly enabled: boolean;
  readonly max_engagement_count: number;
  readonly available: boolean;
  readonly media: Medium[];
  readonly lease_until: number | null;
  readonly sites: Record<SiteId, TeamId[]>;
  readonly last_engaged_at: number | null;
}

/** Includes disabled operators: they may still have an engagement that must end. */
async function readOperators(sql: Sql, accountId: AccountId, ids: readonly string[] | null): Promise<StoredOperator[]> {
  return sql<StoredOperator[]>`
    SELECT o.id, o.enabled, o.max_engagement_count, o.available, o.media,
           extract(epoch FROM o.presence_expires_at)::float8 * 1000 AS lease_until,
           coalesce((SELECT jsonb_object_agg(a.site_id,
                              ARRAY(SELECT t.team_id FROM operator_teams t
                                     WHERE t.operator_id = o.id AND t.site_id = a.site_id))
                       FROM operator_assignments a WHERE a.operator_id = o.id), '{}') AS sites,
           extract(epoch FROM greatest((SELECT max(e.sub_started_at) FROM engagements e WHERE e.operator_id = o.id),
                                       (SELECT max(s.started_at) FROM sub_engagements s WHERE s.operator_id = o.id)))::float8
             * 1000 AS last_engaged_at
      FROM operators o
     WHERE o.account_id = ${accountId} AND (${ids === null} OR o.id = ANY(${[...(ids ?? [])]}::uuid[]))`;
}

function settingsOf(row: StoredOperator) {
  return {
    id: row.id,
    enabled: row.enabled,
    sites: new Map(Object.entries(row.sites).map(([site, teams]) => [site as SiteId, new Set(teams)])),
    maxEngagements: row.max_engagement_count,
    available: row.available,
    media: mediaSet(row.media),
    leaseUntil: row.lease_until,
  };
}

function dropDeleted(board: Board, requested: readonly string[], rows: readonly StoredOperator[]): void {
  const found = new Set<string>(rows.map((row) => row.id));
  for (const id of requested) if (!found.has(id)) dropOperator(board, id as OperatorId);
}

async function readLeases(sql: Sql, ids: readonly string[]): Promise<{ id: VisitorId; lease_until: number | null }[]> {
  return sql<{ id: VisitorId; lease_until: number | null }[]>`
    SELECT id, extract(epoch FROM presence_expires_at)::float8 * 1000 AS lease_until
      FROM visitors WHERE id = ANY(${[...ids]}::uuid[])`;
}

const visitorColumns = (sql: Sql) => sql`
  v.id AS visitor_id, v.team_ids AS visitor_teams,
  extract(epoch FROM v.presence_expires_at)::float8 * 1000 AS lease_until`;

async function readEngagements(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredEngagement[]> {
  const which = ids === null
    ? sql`e.id IN (SELECT engagement_id FROM active_engagements WHERE account_id = ${accountId})`
    : sql`e.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredEngagement[]>`
    SELECT e.id, e.request_id, e.ticket_id, e.queue_id, e.heard_by, e.asked_on_site_id, e.site_id, e.operator_id, e.media,
           e.sub_engagement_id, e.highest_media, e.operator_team_ids,
           extract(epoch FROM e.sub_started_at)::float8 * 1000 AS sub_started_at,
           extract(epoch FROM e.started_at)::float8 * 1000 AS started_at,
           extract(epoch FROM e.ended_at)::float8 * 1000 AS ended_at,
           coalesce((SELECT r.notes ->> 'platform' = 'sms' FROM engagement_requests r WHERE r.id = e.request_id), false)
             AS by_phone,
           (SELECT json_build_object('id', c.id, 'sub_engagement_id', c.sub_engagement_id,
                                     'started_at', extract(epoch FROM c.started_at)::float8 * 1000)
              FROM calls c WHERE c.engagement_id = e.id AND c.ended_at IS NULL) AS call,
           ${visitorColumns(sql)}
      FROM engagements e JOIN visitors v ON v.id = e.visitor_id
     WHERE ${which}`;
}

async function readTickets(sql: Sql, accountId: AccountId, ids: readonly string[] | null): Promise<StoredTicket[]> {
  const which = ids === null
    ? sql`t.account_id = ${accountId} AND t.ended_at IS NULL`
    : sql`t.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredTicket[]>`
    SELECT t.id, t.seq::float8 AS seq, t.kind, t.site_id, t.media, t.state, t.criteria, t.narrowed_to, t.engagement_id,
           t.never_to, t.preferred_operator_id, t.refusals, t.queue_ids, t.notes, t.address_hash,
           ARRAY(SELECT extract(epoch FROM at)::float8 * 1000 FROM unnest(t.entered_at) WITH ORDINALITY AS u (at, n) ORDER BY n)
             AS entered_at,
           extract(epoch FROM t.enqueued_at)::float8 * 1000 AS enqueued_at, ${visitorColumns(sql)}
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE ${which}
     ORDER BY t.seq`;
}

/**
 * The last turn ended every request that had timed out by then. A pending request was therefore made at most its time-out before
 * that turn, however long ago the turn was. An hour is added as a margin.
 */
export const maxRequestAge = `${longestOfferMs / 1_000 + 3_600} seconds`;
export const maxLastingRequestAge = `${smsRequestLifetimeHours + 1} hours`;

async function readRequests(sql: Sql, accountId: AccountId, ids: readonly string[] | null): Promise<StoredRequest[]> {
  const which = ids === null
    ? sql`
      r.state = 'pending' AND r.id IN (
        SELECT request_id FROM queue_tickets WHERE account_id = ${accountId} AND ended_at IS NULL
        UNION ALL
        SELECT id FROM engagement_requests
         WHERE account_id = ${accountId} AND kind <> 'ticket'
           AND created_at > (SELECT turned_at FROM accounts WHERE id = ${accountId}) - ${maxRequestAge}::interval
        UNION ALL
        SELECT id FROM lasting_requests
         WHERE account_id = ${accountId}
           AND created_at > (SELECT turned_at FROM accounts WHERE id = ${accountId}) - ${maxLastingRequestAge}::interval)`
    : sql`r.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredRequest[]>`
    SELECT r.id, r.kind, r.origin, r.state, r.site_id, r.operator_id, r.media, r.queue_id, r.ticket_id, r.engagement_id,
           r.timeout_ms, r.notes, r.address_hash, extract(epoch FROM r.created_at)::float8 * 1000 AS created_at, ${visitorColumns(sql)}
      FROM engagement_requests r JOIN visitors v ON v.id = r.visitor_id
     WHERE ${which}
     ORDER BY r.created_at, r.id`;
}
