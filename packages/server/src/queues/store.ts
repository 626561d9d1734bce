import type { Medium } from '@usher/contract/media';
import type { Sql } from '../platform/database.ts';
import type { AccountId, OperatorId, QueueId, SchedulingPolicyId, SiteId, TeamId } from '../platform/ids.ts';
import type { PolicyRow } from '../schedules/policy.ts';
import { queueFields, type QueueRow, type StoredQueue } from './queue.ts';

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

export interface AvailableOperator {
  readonly id: OperatorId;
  readonly site_id: SiteId;
  readonly media: readonly Medium[];
  readonly team_ids: readonly TeamId[];
  /** When the presence lease ends; null: never. */
  readonly expires_at: Date | null;
}

/** Operators who are available on the sites now. Served by operator_assignments_by_site. */
export async function availableOperators(sql: Sql, siteIds: readonly SiteId[]): Promise<AvailableOperator[]> {
  return sql<AvailableOperator[]>`
    SELECT o.id, a.site_id, o.media, o.presence_expires_at AS expires_at,
           ARRAY(SELECT t.team_id FROM operator_teams t WHERE t.operator_id = o.id AND t.site_id = a.site_id) AS team_ids
      FROM operator_assignments a
      JOIN operators o ON o.id = a.operator_id
     WHERE a.site_id = ANY(${[...siteIds]}::uuid[])
       AND o.enabled AND o.available AND coalesce(o.presence_expires_at > now(), true)`;
}

export interface QueueCount {
  readonly id: QueueId;
  readonly visitors: number;
  readonly average_wait: number;
}

/** The visitor counts and recent average waits that the board last wrote. */
export async function countVisitors(sql: Sql, ids: readonly QueueId[]): Promise<QueueCount[]> {
  return sql<QueueCount[]>`
    SELECT queue_id AS id, visitors, coalesce((SELECT avg(wait) FROM unnest(waits) AS wait), 0)::float8 / 1000 AS average_wait
      FROM queue_states
     WHERE queue_id = ANY(${[...ids]}::uuid[])`;
}
