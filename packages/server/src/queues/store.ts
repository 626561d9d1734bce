import type { Sql } from '../platform/database/database.ts';
import type { AccountId, QueueId, SiteId } from '../platform/ids.ts';
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

/**
 * The operators who are available on the sites at `at`, in groups. Teams are read for all operators of the sites together: reading
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
       AND o.enabled AND o.available
       AND coalesce(o.presence_expires_at > greatest(now(), ${new Date(at)}), true)
     GROUP BY a.site_id, t.team_ids, o.media`;
}

export interface QueueCount {
  readonly id: QueueId;
  readonly visitors: number;
  readonly average_wait: number;
}

/**
 * The visitor counts and recent average waits that the board last wrote. Averages are most of the time that reading a large site takes;
 * `unnest` in the list of columns takes two thirds of the time of `unnest` as a table.
 */
export async function countVisitors(sql: Sql, ids: readonly QueueId[]): Promise<QueueCount[]> {
  return sql<QueueCount[]>`
    SELECT queue_id AS id, visitors,
           coalesce((SELECT avg(wait) FROM (SELECT unnest(waits) AS wait) AS each), 0)::float8 / 1000 AS average_wait
      FROM queue_states
     WHERE queue_id = ANY(${[...ids]}::uuid[])`;
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
