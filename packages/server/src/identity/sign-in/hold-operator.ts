import type { Sql } from '../../platform/database.ts';
import type { OperatorId } from '../../platform/ids.ts';

/**
 * Whoever changes how an operator gets in holds its row first, and only then touches a link, an invitation, a session or the
 * password: so of two at once one waits for the other, and never both. Answers whether the operator is enabled, as it stays
 * until the transaction ends.
 */
export async function holdOperator(sql: Sql, id: OperatorId): Promise<boolean> {
  const [row] = await sql<{ enabled: boolean }[]>`SELECT enabled FROM operators WHERE id = ${id} FOR NO KEY UPDATE`;
  return row?.enabled ?? false;
}
