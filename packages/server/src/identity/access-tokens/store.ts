import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId } from '../../platform/ids.ts';
import { maxAccessTokens, type AccessTokenId } from './access-token.ts';

export interface AccessTokenRow {
  readonly id: AccessTokenId;
  readonly name: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

const columns = ['id', 'name', 'created_at', 'expires_at', 'last_used_at'] as const;

interface NewAccessToken {
  readonly id: AccessTokenId;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly name: string;
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

/** Returns `null` if the operator has `maxAccessTokens`. Call it in a transaction: the row lock makes the count exact. */
export async function insertAccessToken(sql: Sql, token: NewAccessToken): Promise<AccessTokenRow | null> {
  const { id, accountId, operatorId, name, digest, expiresAt } = token;
  await sql`SELECT 1 FROM operators WHERE id = ${operatorId} FOR NO KEY UPDATE`;
  const [row] = await sql<AccessTokenRow[]>`
    INSERT INTO operator_access_tokens (id, account_id, operator_id, name, secret_digest, expires_at)
    SELECT ${id}, ${accountId}, ${operatorId}, ${name}, ${digest}, ${expiresAt}
     WHERE (SELECT count(*) FROM operator_access_tokens
             WHERE operator_id = ${operatorId} AND coalesce(expires_at > now(), true)) < ${maxAccessTokens}
    RETURNING ${sql(columns)}`;
  return row ?? null;
}

/** Lists the tokens that have not expired. */
export async function listAccessTokens(sql: Sql, operatorId: OperatorId): Promise<AccessTokenRow[]> {
  return sql<AccessTokenRow[]>`
    SELECT ${sql(columns)}
      FROM operator_access_tokens
     WHERE operator_id = ${operatorId} AND coalesce(expires_at > now(), true)
     ORDER BY created_at, id`;
}

/** Returns the deleted token; `null` if the operator has no such token. */
export async function deleteAccessToken(sql: Sql, operatorId: OperatorId, id: string): Promise<AccessTokenRow | null> {
  const [row] = await sql<AccessTokenRow[]>`
    DELETE FROM operator_access_tokens WHERE id = ${id} AND operator_id = ${operatorId} RETURNING ${sql(columns)}`;
  return row ?? null;
}

export interface CachedAccessToken {
  readonly id: string;
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

export async function loadAccessToken(sql: Sql, id: string): Promise<CachedAccessToken | null> {
  const [row] = await sql<CachedAccessToken[]>`
    SELECT id, account_id AS "accountId", operator_id AS "operatorId", secret_digest AS digest, expires_at AS "expiresAt"
      FROM operator_access_tokens
     WHERE id = ${id}`;
  return row ?? null;
}

export async function writeLastUse(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`UPDATE operator_access_tokens SET last_used_at = now() WHERE id = ANY(${[...ids]}::uuid[])`;
}
