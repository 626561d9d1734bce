import type { Sql } from '../../platform/database/database.ts';
import type { OperatorId } from '../../platform/ids.ts';

/**
 * Locks the operator's row until the transaction ends. Call it before changing a link, an invitation, a session or the password
 * of the operator: one lock for all of them, taken first, cannot deadlock. Returns whether the operator and the account are enabled.
 */
export async function lockSignIn(sql: Sql, id: OperatorId): Promise<boolean> {
  const [row] = await sql<{ enabled: boolean }[]>`
    SELECT o.enabled AND a.disabled_at IS NULL AS enabled
      FROM operators o
      JOIN accounts a ON a.id = o.account_id
     WHERE o.id = ${id}
       FOR NO KEY UPDATE OF o`;
  return row?.enabled ?? false;
}
