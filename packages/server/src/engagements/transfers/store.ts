import type { Sql } from '../../platform/database/database.ts';
import type { EngagementRow } from '../engagement.ts';

interface AcceptedRow {
  readonly id: string;
  readonly operator_id: string;
  readonly message: string | null;
  readonly transferred_at: Date;
}

/** Each accepted transfer ended one sub-engagement and started the next. Served by engagement_requests_by_visitor. */
export async function completedTransfers(
  sql: Sql,
  { id, account_id, visitor_id, sub_engagements: subs }: EngagementRow,
) {
  const accepted = await sql<AcceptedRow[]>`
    SELECT id, operator_id, notes ->> 'message' AS message, updated_at AS transferred_at
      FROM engagement_requests
     WHERE visitor_id = ${visitor_id} AND account_id = ${account_id} AND engagement_id = ${id}
       AND kind = 'transfer' AND state = 'accepted'
     ORDER BY updated_at, created_at`;
  if (accepted.length === 0) return [];
  const operators = await sql<{ id: string; name: string }[]>`
    SELECT id, name FROM operators WHERE id = ANY(${subs.map(({ operator_id }) => operator_id)}::uuid[])`;
  const names = new Map(operators.map(({ id: operatorId, name }) => [operatorId, name]));
  return accepted.flatMap((transfer, index) => {
    const from = subs[index]?.operator_id;
    if (from === undefined) return [];
    return [{ ...transfer, from_operator_id: from, from_operator_name: names.get(from) ?? null }];
  });
}
