import type { Sql } from '../platform/database/database.ts';
import type { AccountId, QueueId, SchedulingPolicyId, SiteId } from '../platform/ids.ts';
import { policyFields, type PolicyRow, type StoredPolicy } from './policy.ts';

const { columns } = policyFields;

export async function findPolicy(sql: Sql, accountId: AccountId, id: SchedulingPolicyId): Promise<PolicyRow | null> {
  const [row] = await sql<PolicyRow[]>`
    SELECT ${sql(columns)} FROM scheduling_policies WHERE id = ${id} AND account_id = ${accountId}`;
  return row ?? null;
}

export async function policiesById(sql: Sql, ids: readonly SchedulingPolicyId[]): Promise<PolicyRow[]> {
  return sql<PolicyRow[]>`SELECT ${sql(columns)} FROM scheduling_policies WHERE id = ANY(${[...ids]}::uuid[])`;
}

/** Served by scheduling_policies_by_site. */
export async function listPolicies(
  sql: Sql,
  siteIds: readonly SiteId[],
  window: { limit: number | null; offset: number },
): Promise<PolicyRow[]> {
  return sql<PolicyRow[]>`
    SELECT ${sql(columns)}
      FROM scheduling_policies
     WHERE site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY created_at, id
     LIMIT ${window.limit} OFFSET ${window.offset}`;
}

interface NewPolicy {
  readonly id: SchedulingPolicyId;
  readonly accountId: AccountId;
  readonly siteId: SiteId;
  readonly policy: StoredPolicy;
}

export async function insertPolicy(sql: Sql, { id, accountId, siteId, policy }: NewPolicy): Promise<PolicyRow> {
  const values = { id, account_id: accountId, site_id: siteId, ...policyFields.values(sql, policy) };
  const [row] = await sql<PolicyRow[]>`INSERT INTO scheduling_policies ${sql(values)} RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('the inserted policy was not returned');
  return row;
}

/** Reads and locks the policy until the transaction ends, because fields left out of an update keep their value. */
export async function lockPolicy(sql: Sql, accountId: AccountId, id: SchedulingPolicyId): Promise<PolicyRow | null> {
  const [row] = await sql<PolicyRow[]>`
    SELECT ${sql(columns)} FROM scheduling_policies WHERE id = ${id} AND account_id = ${accountId} FOR NO KEY UPDATE`;
  return row ?? null;
}

export async function updatePolicy(sql: Sql, id: SchedulingPolicyId, policy: StoredPolicy): Promise<PolicyRow> {
  const [row] = await sql<PolicyRow[]>`
    UPDATE scheduling_policies SET ${sql(policyFields.values(sql, policy))}, version = version + 1, updated_at = now()
     WHERE id = ${id}
    RETURNING ${sql(columns)}`;
  if (row === undefined) throw new Error('a locked policy does not exist');
  return row;
}

export async function deletePolicy(sql: Sql, id: SchedulingPolicyId): Promise<void> {
  await sql`DELETE FROM scheduling_policies WHERE id = ${id}`;
}

/** Served by queues_by_policy. */
export async function queuesOfPolicy(sql: Sql, id: SchedulingPolicyId): Promise<QueueId[]> {
  const rows = await sql<{ id: QueueId }[]>`
    SELECT id FROM queues WHERE scheduling_policy_id = ${id} ORDER BY created_at, id LIMIT 100`;
  return rows.map((row) => row.id);
}
