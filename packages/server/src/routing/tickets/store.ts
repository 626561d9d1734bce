import type { Sql } from '../../platform/database.ts';
import type { AccountId, QueueId } from '../../platform/ids.ts';
import type { Ticket } from '../board/state.ts';
import type { TicketRow } from './ticket.ts';

const columns = (sql: Sql) => sql`
  id, account_id, site_id, visitor_id, media, queue_ids, state, engagement_id, enqueued_at AS created_at, updated_at`;

export async function findTicket(
  sql: Sql,
  accountId: AccountId,
  kind: Ticket['kind'],
  id: string,
): Promise<TicketRow | null> {
  const [row] = await sql<TicketRow[]>`
    SELECT ${columns(sql)} FROM queue_tickets WHERE id = ${id} AND account_id = ${accountId} AND kind = ${kind}`;
  return row ?? null;
}

interface Line {
  readonly accountId: AccountId;
  readonly queueId: QueueId;
  readonly limit: number | null;
  readonly offset: number;
}

/** Who is in a queue, in order, and how many of those who wait are before each. Served by queue_tickets_active. */
export async function ticketsInQueue(
  sql: Sql,
  { accountId, queueId, limit, offset }: Line,
): Promise<(TicketRow & { position: number | null })[]> {
  return sql<(TicketRow & { position: number | null })[]>`
    SELECT ${columns(sql)},
           CASE WHEN state = 'waiting'
                THEN count(*) FILTER (WHERE state = 'waiting') OVER (ORDER BY seq)::integer END AS position
      FROM queue_tickets
     WHERE account_id = ${accountId} AND ended_at IS NULL AND ${queueId} = ANY(queue_ids)
     ORDER BY seq
     LIMIT ${limit} OFFSET ${offset}`;
}
