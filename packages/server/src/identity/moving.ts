import type { Sql, SqlFragment } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';

/** For statements that claim work: not for an account that is being moved, because another installation does it then. */
export function isNotMoving(sql: Sql, accountId: SqlFragment): SqlFragment {
  return sql`NOT EXISTS (SELECT FROM accounts moving WHERE moving.id = ${accountId} AND moving.moving_at IS NOT NULL)`;
}

export async function findMovingAccounts(sql: Sql): Promise<ReadonlySet<AccountId>> {
  const rows = await sql<{ id: AccountId }[]>`SELECT id FROM accounts WHERE moving_at IS NOT NULL`;
  return new Set(rows.map(({ id }) => id));
}
