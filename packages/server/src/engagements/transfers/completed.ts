import Type from 'typebox';
import { permittedEngagement } from '../permitted-engagement.ts';
import type { App } from '../../platform/http.ts';
import type { Sql } from '../../platform/database.ts';
import { nullable, output, timestamp, uuid } from '../../platform/schema.ts';
import { message } from '../../routing/notes.ts';
import type { EngagementRow } from '../engagement.ts';

const completedTransferOutput = output('CompletedTransfer', {
  id: Type.Unsafe<string>({ ...uuid<'engagement_request'>(), description: 'Of the transfer request' }),
  from_operator_id: uuid<'operator'>(),
  from_operator_name: Type.Unsafe<string | null>({
    ...nullable(Type.String()),
    description: 'Who transferred it, possibly from another site; null if the operator was deleted',
  }),
  operator_id: Type.Unsafe<string>({ ...uuid<'operator'>(), description: 'Who took over' }),
  message: nullable(message),
  transferred_at: timestamp,
});

/** What one operator told the next. Visitors do not see it, so it is not part of the engagement that they read. */
export function completedTransferRoutes(app: App): void {
  app.get(
    '/engagements/:engagement_id/transfers',
    {
      config: { access: { operator: 'operator', site: 'resource', rule: 'took part or manages' } },
      schema: {
        tags: ['Transfers'],
        summary: 'How an engagement passed from operator to operator, oldest first',
        params: Type.Object({ engagement_id: uuid<'engagement'>() }),
        response: { 200: Type.Object({ transfers: Type.Array(completedTransferOutput) }) },
      },
    },
    async (request) => {
      const engagement = await permittedEngagement(request, request.params.engagement_id);
      return { transfers: await completedTransfers(request.sql, engagement) };
    },
  );
}

interface AcceptedRow {
  readonly id: string;
  readonly operator_id: string;
  readonly message: string | null;
  readonly transferred_at: Date;
}

/** Each accepted transfer has ended a sub-engagement and begun the next. Served by engagement_requests_by_visitor. */
async function completedTransfers(sql: Sql, { id, account_id, visitor_id, sub_engagements: subs }: EngagementRow) {
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
