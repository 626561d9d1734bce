import type { Sql } from '../../platform/database.ts';
import type { OperatorId } from '../../platform/ids.ts';

/**
 * Locks the operator's row until the transaction ends. Call it before changing a link, an invitation, a session or the password
 * of the operator: one lock for all of them, taken first, cannot deadlock. Returns whether the operator is enabled.
 */
export async function lockSignIn(sql: Sql, id: OperatorId): Promise<boolean> {
  const [row] = await sql<{ enabled: boolean }[]>`SELECT enabled FROM operators WHERE id = ${id} FOR NO KEY UPDATE`;
  return row?.enabled ?? false;
}
