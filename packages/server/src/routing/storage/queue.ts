import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, QueueId, SchedulingPolicyId } from '../../platform/ids.ts';
import { mediaOf, queueFields, type QueueRow } from '../../queues/queue.ts';
import { readHours } from '../../schedules/read-hours.ts';
import type { Board } from '../board/board.ts';
import { dropQueue, putQueue } from '../board/rules/staffing.ts';
import { mediaSet } from '../board/structures/media.ts';
import { memoryColumns, memoryOf, type StoredMemory } from './queue-state.ts';

/** What the board reads of the table `queues`, which belongs to the room queues. The state of a queue is in queue-state.ts. */
type StoredQueue = QueueRow & { ranks: Record<OperatorId, number> } & StoredMemory;

/** The ids of queues that changed, or whose policies did. */
export async function queuesOf(
  sql: Sql,
  { queues, policies }: { readonly queues: readonly string[]; readonly policies: readonly string[] },
): Promise<readonly string[]> {
  if (policies.length === 0) return queues;
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM queues WHERE scheduling_policy_id = ANY(${[...policies]}::uuid[])`;
  return [...new Set([...queues, ...rows.map((row) => row.id)])];
}

/** `null` reads all queues. */
export async function readQueues(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredQueue[]> {
  return sql<StoredQueue[]>`
    SELECT ${sql(queueFields.columns.map((column) => `q.${column}`))}, ${memoryColumns(sql)},
           coalesce((SELECT jsonb_object_agg(r.operator_id, r.rank) FROM queue_rankings r WHERE r.queue_id = q.id), '{}') AS ranks
      FROM queues q
      LEFT JOIN queue_states s ON s.queue_id = q.id
     WHERE q.account_id = ${accountId} AND (${ids === null} OR q.id = ANY(${[...(ids ?? [])]}::uuid[]))
     ORDER BY q.created_at, q.id`;
}

/** Puts stored queues on the board, and removes those that were requested and no longer exist. */
export async function putQueues(
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
