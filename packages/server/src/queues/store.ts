import type { Piece, Sql } from '../platform/database/database.ts';
import type { AccountId, QueueId, SchedulingPolicyId, SiteId } from '../platform/ids.ts';
import type { PolicyRow } from '../schedules/policy.ts';
import type { AvailableOperators, TeamSet } from './memberships.ts';
import { queueFields, type QueueRow, type StoredQueue } from './queue.ts';
import type { StaffGroup } from './staff.ts';

const { columns } = queueFields;

export async function findQueue(sql: Sql, accountId: AccountId, id: QueueId): Promise<QueueRow | null> {
  const [row] = await sql<QueueRow[]>`
    SELECT ${sql(columns)} FROM queues WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

/** The queues of a site and those of other sites in their fallback chains, in order of creation. */
export async function queuesOfSite(sql: Sql, siteId: SiteId): Promise<QueueRow[]> {
  return sql<QueueRow[]>`
    WITH RECURSIVE linked AS (
      SELECT id, fallback_queue_id FROM queues WHERE site_id = ${siteId}
      UNION
      SELECT q.id, q.fallback_queue_id FROM queues q JOIN linked ON q.id = linked.fallback_queue_id)
    SELECT ${sql(columns)} FROM queues WHERE id IN (SELECT id FROM linked) ORDER BY created_at, id`;
}

/** The versions of the queues of a site, in order of creation, and of these queues of other sites. Served by queues_by_site. */
export async function queueVersions(
  sql: Sql,
  siteId: SiteId,
  others: readonly QueueId[],
): Promise<{ readonly id: QueueId; readonly version: number }[]> {
  return sql<{ id: QueueId; version: number }[]>`
    SELECT id, version FROM queues WHERE site_id = ${siteId} OR id = ANY(${[...others]}::uuid[]) ORDER BY created_at, id`;
}

export async function queuesById(sql: Sql, ids: readonly QueueId[]): Promise<QueueRow[]> {
  return sql<QueueRow[]>`SELECT ${sql(columns)} FROM queues WHERE id = ANY(${[...ids]}::uuid[])`;
}

/** The queue `start` and its fallback chain, in order. */
export async function queuesAlong(sql: Sql, accountId: AccountId, start: QueueId): Promise<QueueRow[]> {
  return sql<QueueRow[]>`
    WITH RECURSIVE path AS (
      SELECT id, fallback_queue_id, 1 AS step FROM queues WHERE id = ${start} AND account_id = ${accountId}
      UNION ALL
      SELECT q.id, q.fallback_queue_id, step + 1 FROM queues q JOIN path ON q.id = path.fallback_queue_id)
      CYCLE id SET looped USING visited
    SELECT ${sql(columns.map((column) => `queues.${column}`))}
      FROM path JOIN queues ON queues.id = path.id
     WHERE NOT looped
     ORDER BY step`;
}

export async function insertQueue(
  sql: Sql,
  ids: { id: QueueId; accountId: AccountId; siteId: SiteId },
  queue: StoredQueue,
): Promise<QueueRow> {
  const values = {
    id: ids.id,
    account_id: ids.accountId,
    site_id: ids.siteId,
    ...queueFields.values(sql, queue),
  };
  const [row] = await sql<QueueRow[]>`INSERT INTO queues ${sql(values)} RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('the inserted queue was not returned');
  await replaceTeams(sql, row);
  return row;
}

export async function updateQueue(sql: Sql, id: QueueId, queue: StoredQueue): Promise<QueueRow> {
  const [row] = await sql<QueueRow[]>`
    UPDATE queues SET ${sql(queueFields.values(sql, queue))}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('a locked queue does not exist');
  await replaceTeams(sql, row);
  return row;
}

async function replaceTeams(
  sql: Sql,
  { id, account_id, routing_policy: { team_ids: teams = [] } }: QueueRow,
): Promise<void> {
  await sql`DELETE FROM queue_teams WHERE queue_id = ${id} AND team_id <> ALL (${teams}::uuid[])`;
  await sql`
    INSERT INTO queue_teams (account_id, queue_id, team_id)
    SELECT ${account_id}, ${id}, team_id FROM unnest(${teams}::uuid[]) AS team_id
    ON CONFLICT DO NOTHING`;
}

export async function deleteQueue(sql: Sql, id: QueueId): Promise<void> {
  await sql`DELETE FROM queues WHERE id = ${id}`;
}

/** The ids of the queue `start` and its fallback chain, in order. */
export async function fallbackPath(sql: Sql, start: QueueId): Promise<QueueId[]> {
  const rows = await sql<{ id: QueueId }[]>`
    WITH RECURSIVE path AS (
      SELECT id, fallback_queue_id, 1 AS step FROM queues WHERE id = ${start}
      UNION ALL
      SELECT q.id, q.fallback_queue_id, step + 1 FROM queues q JOIN path ON q.id = path.fallback_queue_id)
      CYCLE id SET looped USING visited
    SELECT id FROM path WHERE NOT looped ORDER BY step`;
  return rows.map((row) => row.id);
}

/** Describes everything that refers to the queue. */
export async function usersOfQueue(sql: Sql, id: QueueId): Promise<string[]> {
  const rows = await sql<{ user: string }[]>`
    SELECT 'is the fallback of queue ' || id AS user FROM queues WHERE fallback_queue_id = ${id}
    UNION ALL
    SELECT 'is used by phone channel ' || id FROM phone_channels WHERE queue_id = ${id}
    UNION ALL
    SELECT 'is used by digital channel ' || id FROM digital_channels WHERE queue_id = ${id}
    LIMIT 100`;
  return rows.map((row) => row.user);
}

export async function policiesById(
  sql: Sql,
  ids: readonly SchedulingPolicyId[],
): Promise<Pick<PolicyRow, 'id' | 'version' | 'timezone' | 'business_hours' | 'exceptions'>[]> {
  if (ids.length === 0) return [];
  return sql<PolicyRow[]>`
    SELECT id, version, timezone, business_hours, exceptions FROM scheduling_policies WHERE id = ANY(${[...ids]}::uuid[])`;
}

/**
 * The operators who are available on the sites at `at`, in groups, as `Memberships.groupsOf` returns them. Teams are read for all operators of the sites together: reading
 * them for each operator took twice as long. Served by operator_assignments_by_site and operator_teams_by_team.
 */
export async function availableStaff(sql: Sql, siteIds: readonly SiteId[], at: number): Promise<StaffGroup[]> {
  const sites = sql`${[...siteIds]}::uuid[]`;
  return sql<StaffGroup[]>`
    WITH teams AS (
           SELECT operator_id, site_id, array_agg(team_id ORDER BY team_id) AS team_ids
             FROM operator_teams
            WHERE site_id = ANY(${sites})
            GROUP BY operator_id, site_id)
    SELECT a.site_id, coalesce(t.team_ids, '{}') AS team_ids, o.media, count(*)::integer AS operators,
           min(o.presence_expires_at) AS expires_at
      FROM operator_assignments a
      JOIN operators o ON o.id = a.operator_id
      LEFT JOIN teams t ON t.operator_id = a.operator_id AND t.site_id = a.site_id
     WHERE a.site_id = ANY(${sites})
       AND ${isAvailable(sql, at)}
     GROUP BY a.site_id, t.team_ids, o.media`;
}

/** The operators who are available on the sites at `at`. Served by operator_assignments_by_site. */
export async function availableOperators(
  sql: Sql,
  siteIds: readonly SiteId[],
  at: number,
): Promise<AvailableOperators[]> {
  return sql<AvailableOperators[]>`
    SELECT a.site_id, o.media, array_agg(o.id) AS operator_ids, min(o.presence_expires_at) AS expires_at
      FROM operator_assignments a
      JOIN operators o ON o.id = a.operator_id
     WHERE a.site_id = ANY(${[...siteIds]}::uuid[]) AND ${isAvailable(sql, at)}
     GROUP BY a.site_id, o.media`;
}

/** Whether the operator `o` is available. */
function isAvailable(sql: Sql, at: number): Piece {
  return sql`o.enabled AND o.available AND coalesce(o.presence_expires_at > greatest(now(), ${new Date(at)}), true)`;
}

/** The teams of all operators of the sites. Served by operator_teams_by_team. */
export async function teamSets(sql: Sql, siteIds: readonly SiteId[]): Promise<TeamSet[]> {
  return sql<TeamSet[]>`
    SELECT site_id, team_ids, array_agg(operator_id) AS operator_ids
      FROM (SELECT site_id, operator_id, array_agg(team_id ORDER BY team_id) AS team_ids
              FROM operator_teams
             WHERE site_id = ANY(${[...siteIds]}::uuid[])
             GROUP BY site_id, operator_id) AS t
     GROUP BY site_id, team_ids`;
}

export interface QueueCount {
  readonly id: QueueId;
  readonly visitors: number;
  readonly average_wait: number;
}

/** The visitor counts and recent average waits that the board last wrote. */
export async function countVisitors(sql: Sql, ids: readonly QueueId[]): Promise<QueueCount[]> {
  return (await readCounts(sql, { all: ids, known: [], horizon: null })).counts;
}

interface CountsQuery {
  /** Queues whose counts are read. */
  readonly all: readonly QueueId[];
  /** Queues whose counts were read before: what was not written since the `horizon` of that read is left out. */
  readonly known: readonly QueueId[];
  readonly horizon: string | null;
}

export interface CountsRead {
  readonly counts: QueueCount[];
  /** What is written from now on is written by this transaction or a later one. */
  readonly horizon: string;
}

/**
 * The counts of queues. Averages are what a read costs, and after a change most are the same: so counts that were read before are
 * read again only if they were written since, and perhaps some more.
 *
 * A transaction below `pg_snapshot_xmin` had ended when the snapshot was taken, so the earlier read has seen what it wrote. `xmin`
 * has the lower 32 bits of the transaction id, so the comparison is right for 2^31 transactions; the caller limits the time.
 */
export async function readCounts(sql: Sql, { all, known, horizon }: CountsQuery): Promise<CountsRead> {
  const isNew = sql`(s.xmin::text::bigint - ${horizon}::bigint) & 4294967295 < 2147483648`;
  const [row] = await sql<CountsRead[]>`
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
           coalesce((SELECT json_agg(json_build_object('id', s.queue_id, 'visitors', s.visitors, 'average_wait',
                              coalesce((SELECT avg(wait) FROM unnest(s.waits) AS wait), 0)::float8 / 1000))
                       FROM (SELECT queue_id, visitors, waits FROM queue_states s WHERE queue_id = ANY(${[...all]}::uuid[])
                             UNION ALL
                             SELECT queue_id, visitors, waits FROM queue_states s
                              WHERE queue_id = ANY(${[...known]}::uuid[]) AND ${isNew}) AS s), '[]') AS counts`;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row;
}

export interface WaitingInQueue {
  /** `null`: all queues that are not listed. */
  readonly id: QueueId | null;
  readonly visitors: number;
  readonly longestWaitSec: number;
}

/**
 * How many visitors wait in the queues of all accounts, and for how long: in the `listed` queues with the most visitors, and in all
 * others together. Served by queue_tickets_active.
 */
export async function waitingInQueues(sql: Sql, listed: number): Promise<WaitingInQueue[]> {
  return sql<WaitingInQueue[]>`
    WITH entries AS (
           SELECT entry.queue_id, min(entry.entered_at) AS since
             FROM queue_tickets t, unnest(t.queue_ids, t.entered_at) AS entry (queue_id, entered_at)
            WHERE t.ended_at IS NULL
            GROUP BY entry.queue_id),
         ranked AS (
           SELECT q.id, coalesce(s.visitors, 0) AS visitors, e.since,
                  row_number() OVER (ORDER BY coalesce(s.visitors, 0) DESC, q.id) <= ${listed} AS is_listed
             FROM queues q
             LEFT JOIN queue_states s ON s.queue_id = q.id
             LEFT JOIN entries e ON e.queue_id = q.id)
    SELECT CASE WHEN is_listed THEN id END AS id, sum(visitors)::integer AS visitors,
           greatest(coalesce(extract(epoch FROM now() - min(since)), 0), 0)::float8 AS "longestWaitSec"
      FROM ranked
     GROUP BY 1`;
}
