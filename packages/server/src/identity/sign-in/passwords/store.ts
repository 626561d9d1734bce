import type { Sql } from '../../../platform/database.ts';
import type { AccountId, OperatorId } from '../../../platform/ids.ts';

export interface PasswordOwner {
  readonly accountId: AccountId;
  readonly operatorId: OperatorId;
  readonly hash: string;
}

/**
 * Enabled operators of that address who have a password: one in each account at most, and of `most` accounts.
 * Served by operators_by_email.
 */
export async function passwordsOf(sql: Sql, email: string, most: number): Promise<PasswordOwner[]> {
  return sql<PasswordOwner[]>`
    SELECT o.account_id AS "accountId", o.id AS "operatorId", p.hash
      FROM operators o
      JOIN operator_passwords p ON p.operator_id = o.id
     WHERE lower(o.email) = lower(${email}) AND o.enabled
     ORDER BY o.created_at, o.id
     LIMIT ${most}`;
}

interface SecuredOperator {
  readonly name: string;
  readonly email: string;
  /** `null`: the operator has no password. */
  readonly hash: string | null;
}

export async function findSecured(sql: Sql, id: OperatorId): Promise<SecuredOperator | null> {
  const [row] = await sql<SecuredOperator[]>`
    SELECT o.name, o.email, p.hash
      FROM operators o
      LEFT JOIN operator_passwords p ON p.operator_id = o.id
     WHERE o.id = ${id}`;
  return row ?? null;
}

/** To be called with the operator's row locked, as whoever opens a session holds it: a session is of the password that is. */
export async function setPassword(sql: Sql, { accountId, operatorId, hash }: PasswordOwner): Promise<void> {
  await sql`
    INSERT INTO operator_passwords (operator_id, account_id, hash)
    VALUES (${operatorId}, ${accountId}, ${hash})
    ON CONFLICT (operator_id) DO UPDATE SET hash = excluded.hash, set_at = now()`;
}

/** Whether this is still the operator's password; `null`: whether it still has none. */
export async function isPassword(sql: Sql, operatorId: OperatorId, hash: string | null): Promise<boolean> {
  const [row] = await sql<{ hash: string }[]>`SELECT hash FROM operator_passwords WHERE operator_id = ${operatorId}`;
  return (row?.hash ?? null) === hash;
}
