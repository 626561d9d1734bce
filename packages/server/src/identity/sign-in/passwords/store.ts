import type { Sql } from '../../../platform/database/database.ts';
import type { AccountId, OperatorId } from '../../../platform/ids.ts';

export interface PasswordOwner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly hash: string;
}

/**
 * Passwords of enabled operators of enabled accounts with this e-mail address: at most one per account, of at most `maxAccounts` accounts.
 * Served by operators_by_email.
 */
export async function findPasswords(sql: Sql, email: string, maxAccounts: number): Promise<PasswordOwner[]> {
  return sql<PasswordOwner[]>`
    SELECT o.account_id AS "accountId", o.id AS "operatorId", p.hash
      FROM operators o
      JOIN accounts a ON a.id = o.account_id AND a.disabled_at IS NULL
      JOIN operator_passwords p ON p.operator_id = o.id
     WHERE lower(o.email) = lower(${email}) AND o.enabled
     ORDER BY o.created_at, o.id
     LIMIT ${maxAccounts}`;
}

interface OperatorPassword {
  readonly name: string;
  readonly email: string;
  /** `null`: the operator has no password. */
  readonly hash: string | null;
}

export async function findOperatorPassword(sql: Sql, id: OperatorId): Promise<OperatorPassword | null> {
  const [row] = await sql<OperatorPassword[]>`
    SELECT o.name, o.email, p.hash
      FROM operators o
      LEFT JOIN operator_passwords p ON p.operator_id = o.id
     WHERE o.id = ${id}`;
  return row ?? null;
}

/** Requires the lock on the operator's row, which opening a session takes too: no session can be opened with the old password. */
export async function setPassword(sql: Sql, { accountId, operatorId, hash }: PasswordOwner): Promise<void> {
  await sql`
    INSERT INTO operator_passwords (operator_id, account_id, hash)
    VALUES (${operatorId}, ${accountId}, ${hash})
    ON CONFLICT (operator_id) DO UPDATE SET hash = excluded.hash, set_at = now()`;
}

/** Whether the operator's password hash is still `hash`; `null` stands for no password. */
export async function isCurrentPassword(sql: Sql, operatorId: OperatorId, hash: string | null): Promise<boolean> {
  const [row] = await sql<{ hash: string }[]>`SELECT hash FROM operator_passwords WHERE operator_id = ${operatorId}`;
  return (row?.hash ?? null) === hash;
}
