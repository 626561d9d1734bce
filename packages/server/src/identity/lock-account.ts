import type { Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';

/**
 * The lock under which everything is decided that routing depends on: turns, and changes of queues, operators and what they
 * refer to. Taken first, before any other row: whoever changes those rows comes to it in the end, by the triggers that move
 * the board.
 */
export async function lockAccount(sql: Sql, id: AccountId): Promise<void> {
  await sql`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
}
