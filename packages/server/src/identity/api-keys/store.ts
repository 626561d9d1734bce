import { inTransaction, type Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId } from '../../platform/ids.ts';

interface NewKey {
  readonly id: string;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly secretHash: string;
}

export interface ApiKeyRow {
  readonly id: string;
  readonly created_at: Date;
}

/** Returns `null` if the operator already has `max` keys. The lock on the operator's row makes the count exact. */
export async function insertApiKey(pool: Sql, key: NewKey, max: number): Promise<ApiKeyRow | null> {
  return inTransaction(pool, async (sql) => {
    await sql`SELECT 1 FROM operators WHERE id = ${key.operatorId} FOR NO KEY UPDATE`;
    const [row] = await sql<ApiKeyRow[]>`
      INSERT INTO api_keys (id, account_id, operator_id, secret_hash)
      SELECT ${key.id}, ${key.accountId}, ${key.operatorId}, ${key.secretHash}
       WHERE (SELECT count(*) FROM api_keys WHERE operator_id = ${key.operatorId}) < ${max}
      RETURNING id, created_at`;
    return row ?? null;
  });
}

export async function listApiKeys(sql: Sql, operatorId: OperatorId): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    SELECT id, created_at FROM api_keys WHERE operator_id = ${operatorId} ORDER BY created_at, id`;
}

export async function deleteApiKey(sql: Sql, operatorId: OperatorId, id: string): Promise<boolean> {
  const [row] = await sql`DELETE FROM api_keys WHERE id = ${id} AND operator_id = ${operatorId} RETURNING id`;
  return row !== undefined;
}

export interface KeyOwner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  /** Whether the operator and the account are enabled. */
  readonly enabled: boolean;
  readonly secretHash: string;
}

export async function findKeyOwner(sql: Sql, id: string): Promise<KeyOwner | null> {
  const [row] = await sql<KeyOwner[]>`
    SELECT k.account_id AS "accountId", k.operator_id AS "operatorId",
           o.enabled AND a.disabled_at IS NULL AS enabled, k.secret_hash AS "secretHash"
      FROM api_keys k
      JOIN operators o ON o.id = k.operator_id
      JOIN accounts a ON a.id = k.account_id
     WHERE k.id = ${id}`;
  return row ?? null;
}

/** Returns whether the key still has this secret, and locks the key against deletion until the transaction ends. */
export async function lockApiKey(sql: Sql, id: string, secretHash: string): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM api_keys WHERE id = ${id} AND secret_hash = ${secretHash} FOR KEY SHARE`;
  return row !== undefined;
}
