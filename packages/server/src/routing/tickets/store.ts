import type { Sql } from '../../platform/database/database.ts';
import type { AccountId, QueueId, SiteId, TicketId } from '../../platform/ids.ts';
import type { SequenceCursor } from '../../platform/http/paging.ts';
import type { Ticket } from '../board/structures/state.ts';
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

/** Of these tickets, those of the given visitors, on the given sites, or transferred by the given operators. */
export async function ticketsById(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[],
  audience: {
    readonly visitors: readonly string[];
    readonly operators: readonly string[];
    readonly sites: readonly string[];
  },
): Promise<(TicketRow & { readonly kind: Ticket['kind']; readonly holder: string | null })[]> {
  return sql<(TicketRow & { kind: Ticket['kind']; holder: string | null })[]>`
    SELECT ${columns(sql)}, kind, never_to AS holder
      FROM queue_tickets
     WHERE id = ANY(${[...ids]}::uuid[]) AND account_id = ${accountId}
       AND (visitor_id = ANY(${[...audience.visitors]}::uuid[]) OR never_to = ANY(${[...audience.operators]}::uuid[])
            OR site_id = ANY(${[...audience.sites]}::uuid[]))`;
}

/** The active tickets of the visitors. Served by queue_tickets_active. */
export async function activeTicketsOf(
  sql: Sql,
  accountId: AccountId,
  visitorIds: readonly string[],
): Promise<{ readonly id: TicketId; readonly visitorId: string }[]> {
  return sql<{ id: TicketId; visitorId: string }[]>`
    SELECT id, visitor_id AS "visitorId"
      FROM queue_tickets
     WHERE account_id = ${accountId} AND ended_at IS NULL AND kind = 'visitor'
       AND visitor_id = ANY(${[...visitorIds]}::uuid[])`;
}

interface ActiveTicketsQuery {
  readonly accountId: AccountId;
  readonly kind: Ticket['kind'];
  readonly siteIds: readonly SiteId[];
  readonly after: SequenceCursor | null;
  readonly limit: number;
}

/** Active tickets of the sites, in the order of enqueueing. Served by queue_tickets_active. */
export async function activeTickets(
  sql: Sql,
  { accountId, kind, siteIds, after, limit }: ActiveTicketsQuery,
): Promise<(TicketRow & { readonly seq: number })[]> {
  return sql<(TicketRow & { seq: number })[]>`
    SELECT ${columns(sql)}, seq::float8 AS seq
      FROM queue_tickets
     WHERE account_id = ${accountId} AND ended_at IS NULL AND seq > ${after?.seq ?? -1}
       AND kind = ${kind} AND site_id = ANY(${[...siteIds]}::uuid[])
     ORDER BY seq
     LIMIT ${limit}`;
}

interface QueueTicketsQuery {
  readonly accountId: AccountId;
  readonly queueId: QueueId;
  readonly limit: number | null;
  readonly offset: number;
}

/** Active tickets in a queue, in order, with their position. Served by queue_tickets_active. */
export async function ticketsInQueue(
  sql: Sql,
  { accountId, queueId, limit, offset }: QueueTicketsQuery,
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
