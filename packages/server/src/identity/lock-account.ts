import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';

/**
 * Locks the account's row. The lock serializes everything that routing depends on: turns, and changes of queues, of operators
 * and of what these refer to. Take it before any other row lock: the triggers on those rows lock the account too, so another
 * order can deadlock.
 */
export async function lockAccount(sql: Sql, id: AccountId): Promise<void> {
  await sql`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
}
