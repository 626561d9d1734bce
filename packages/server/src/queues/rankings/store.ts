import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, QueueId, SiteId } from '../../platform/ids.ts';

export interface Ranking {
  readonly id: OperatorId;
  readonly rank: number;
}

export async function listRankings(sql: Sql, queueId: QueueId): Promise<Ranking[]> {
  return sql<Ranking[]>`
    SELECT operator_id AS id, rank FROM queue_rankings WHERE queue_id = ${queueId} ORDER BY rank, operator_id`;
}

/** The operators who are assigned to the site. Their assignments are locked until the transaction ends. */
export async function assignedOperators(
  sql: Sql,
  siteId: SiteId,
  ids: readonly OperatorId[],
): Promise<ReadonlySet<OperatorId>> {
  const rows = await sql<{ id: OperatorId }[]>`
    SELECT operator_id AS id
      FROM operator_assignments
     WHERE site_id = ${siteId} AND operator_id = ANY(${[...ids]}::uuid[])
       FOR SHARE`;
  return new Set(rows.map((row) => row.id));
}

/** The operators who exist in the account, on any site. */
export async function accountOperators(
  sql: Sql,
  accountId: AccountId,
  ids: readonly OperatorId[],
): Promise<ReadonlySet<OperatorId>> {
  const rows = await sql<{ id: OperatorId }[]>`
    SELECT id FROM operators WHERE account_id = ${accountId} AND id = ANY(${[...ids]}::uuid[])`;
  return new Set(rows.map((row) => row.id));
}

interface RankingChange {
  readonly id: OperatorId;
  /** `null` removes the operator from the ranking. */
  readonly rank: number | null;
}

export async function changeRankings(
  sql: Sql,
  queue: { readonly id: QueueId; readonly account_id: AccountId },
  changes: readonly RankingChange[],
): Promise<void> {
  const removed = changes.filter(({ rank }) => rank === null).map(({ id }) => id);
  const ranked = changes.flatMap(({ id, rank }) => (rank === null ? [] : [{ id, rank }]));
  await sql`DELETE FROM queue_rankings WHERE queue_id = ${queue.id} AND operator_id = ANY(${removed}::uuid[])`;
  await sql`
    INSERT INTO queue_rankings (account_id, queue_id, operator_id, rank)
    SELECT ${queue.account_id}, ${queue.id}, given.id, given.rank
      FROM jsonb_to_recordset(${sql.json(ranked)}) AS given (id uuid, rank smallint)
    ON CONFLICT (queue_id, operator_id) DO UPDATE SET rank = excluded.rank`;
}
