import type { Sql } from '../../platform/database/database.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { StateReport, Subject } from './subjects.ts';

export async function readReported(
  sql: Sql,
  accountId: AccountId,
  kinds: readonly Subject['kind'][],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; state: string }[]>`
    SELECT id, state FROM reported_states WHERE account_id = ${accountId} AND kind = ANY(${[...kinds]})`;
  return new Map(rows.map(({ id, state }) => [id, state]));
}

export async function writeReported(sql: Sql, accountId: AccountId, { states, gone }: StateReport): Promise<void> {
  const rows = JSON.stringify(states.map(({ kind, id, state }) => ({ kind, id, state })));
  await sql`
    WITH removed AS (DELETE FROM reported_states WHERE account_id = ${accountId} AND id = ANY(${[...gone]}::uuid[]))
    INSERT INTO reported_states (account_id, id, kind, state)
    SELECT ${accountId}, id, kind, state
      FROM json_to_recordset(${rows}::text::json) AS r (id uuid, kind text, state text)
    ON CONFLICT (account_id, id) DO UPDATE SET state = excluded.state`;
}
