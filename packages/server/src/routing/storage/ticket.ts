import type { SqlFragment, Sql } from '../../platform/database/database.ts';
import type { AccountId, OperatorId, QueueId, TicketId } from '../../platform/ids.ts';
import { getOrAddVisitor, releaseVisitor, type Board } from '../board/board.ts';
import { including, none } from '../board/structures/short-lists.ts';
import { scheduleLeaseDeadlines } from '../board/rules/presence.ts';
import { addTicket, removeTicket } from '../board/rules/tickets.ts';
import { poolForTicket } from '../board/structures/board-pools.ts';
import type { Changes } from '../board/structures/changes.ts';
import { removeFromLine } from '../board/structures/lines.ts';
import { newTicket, type Ticket } from '../board/structures/state.ts';
import { columnsOf, splitByAge } from './columns.ts';
import { engagementOnBoard } from './engagement.ts';
import { visitorColumns, type StoredVisitor } from './visitor.ts';

/** Tickets are stored in the table `queue_tickets`. A ticket is active until `ended_at` is set. */
export const ticketColumns = columnsOf<Ticket>()({
  immutable: {
    id: ['uuid', ({ id }) => id],
    site_id: ['uuid', ({ siteId }) => siteId],
    visitor_id: ['uuid', ({ visitor }) => visitor.id],
    seq: ['bigint', ({ seq }) => seq],
    kind: ['text', ({ kind }) => kind],
    criteria: ['text', ({ criteria }) => criteria],
    narrowed_to: ['uuid[]', ({ requiredTeams }) => requiredTeams],
    never_to: ['uuid', ({ excludedOperator }) => excludedOperator],
    notes: ['json', ({ notes }) => notes],
    enqueued_at: ['timestamptz', ({ enqueuedAt }) => enqueuedAt],
  },
  mutable: {
    state: ['text', ({ state }) => state],
    media: ['text', ({ medium }) => medium],
    preferred_operator_id: ['uuid', ({ preferred }) => preferred],
    refusals: ['jsonb', ({ refusals }): Record<string, number> => Object.fromEntries(refusals ?? [])],
    queue_ids: ['uuid[]', ({ entries }) => entries.map(({ queue }) => queue.settings.id)],
    entered_at: ['timestamptz[]', ({ entries }) => entries.map(({ enteredAt }) => enteredAt)],
    request_id: ['uuid', ({ request }) => request?.id ?? null],
    engagement_id: ['uuid', ({ engagementId, engagement }) => engagementId ?? engagement?.id ?? null],
    engaged_queue_id: ['uuid', ({ matchedBy }) => matchedBy],
    ended_at: ['timestamptz', ({ endedAt }) => endedAt],
    // Deleted as soon as it is no longer counted.
    address_hash: ['text', ({ endedAt, address }) => (endedAt === null ? address : null)],
  },
});

export type StoredTicket = ReturnType<typeof ticketColumns.toRow> & StoredVisitor;

/** `null` reads all active tickets. */
export async function readTickets(
  sql: Sql,
  accountId: AccountId,
  ids: readonly string[] | null,
): Promise<StoredTicket[]> {
  const which = ids === null
    ? sql`t.account_id = ${accountId} AND t.ended_at IS NULL`
    : sql`t.id = ANY(${[...ids]}::uuid[])`; // prettier-ignore
  return sql<StoredTicket[]>`
    SELECT ${ticketColumns.select(sql, 't')}, ${visitorColumns(sql)}
      FROM queue_tickets t JOIN visitors v ON v.id = t.visitor_id
     WHERE ${which}
     ORDER BY t.seq`;
}

/** Puts a stored ticket on the board. Its queues and, if it is a transfer, its engagement must be there. */
export function putTicket(board: Board, row: StoredTicket): void {
  if (row.state !== 'waiting' && row.state !== 'offered') return dropTicket(board, row.id);
  const known = board.tickets.get(row.id);
  if (known !== undefined) removeWithEntries(board, known);
  const ticket = known ?? ticketOf(board, row);
  ticket.state = row.state;
  ticket.medium = row.media;
  ticket.preferred = row.preferred_operator_id;
  const refusals = Object.entries(row.refusals) as [OperatorId, number][];
  ticket.refusals = refusals.length === 0 ? null : new Map(refusals);
  for (const [index, id] of row.queue_ids.entries())
    restoreEntry(board, ticket, id, row.entered_at[index] ?? row.enqueued_at);
  addTicket(board, ticket);
  if (ticket.engagement !== null) ticket.engagement.transfer = ticket;
  board.seq = Math.max(board.seq, row.seq);
  scheduleLeaseDeadlines(board, ticket.visitor);
}

/** Removes a ticket that has ended, if the board has it. */
export function dropTicket(board: Board, id: TicketId): void {
  const known = board.tickets.get(id);
  if (known === undefined) return;
  removeWithEntries(board, known);
  if (known.engagement?.transfer === known) known.engagement.transfer = null;
  releaseVisitor(board, known.visitor);
}

function ticketOf(board: Board, row: StoredTicket): Ticket {
  return newTicket({
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    siteId: row.site_id,
    visitor: getOrAddVisitor(board, row.visitor_id, row.lease_until),
    medium: row.media,
    enqueuedAt: row.enqueued_at,
    criteria: row.criteria,
    visitorTeams: row.visitor_teams,
    requiredTeams: row.narrowed_to,
    engagement: row.kind === 'transfer' ? engagementOnBoard(board, row.engagement_id) : null,
    excludedOperator: row.never_to,
    preferred: row.preferred_operator_id,
    notes: row.notes,
    address: row.address_hash,
    createdIn: null,
  });
}

function restoreEntry(board: Board, ticket: Ticket, id: QueueId, enteredAt: number): void {
  const queue = board.queues.get(id);
  if (queue === undefined) throw new Error(`the board has no queue ${id}`);
  const pool = poolForTicket(board, queue, ticket.requiredTeams);
  ticket.entries = including(ticket.entries, { queue, pool, enteredAt, held: false });
  pool.entryCount += 1;
  queue.visitors += 1;
}

/** Removes a ticket and its entries from the board, before it is put again or dropped. */
function removeWithEntries(board: Board, ticket: Ticket): void {
  if (ticket.state === 'waiting') removeFromLine(board, ticket);
  for (const { queue, pool } of ticket.entries) {
    queue.visitors -= 1;
    pool.entryCount -= 1;
  }
  ticket.entries = none;
  ticket.state = 'offered';
  removeTicket(board, ticket);
}

/** The CTEs that write the tickets of a turn. */
export function writeTickets(sql: Sql, changes: Changes): SqlFragment {
  const { added, changed } = splitByAge(changes.tickets, changes);
  return sql`
         new_tickets AS (
           INSERT INTO queue_tickets (account_id, updated_at, ${ticketColumns.names(sql)})
           SELECT turn.account_id, turn.at, ${ticketColumns.names(sql)} FROM turn, ${ticketColumns.inserted(sql, added)}),
         old_tickets AS (
           UPDATE queue_tickets t
              SET updated_at = turn.at, ${ticketColumns.assignments(sql)}
             FROM turn, ${ticketColumns.updated(sql, changed)}
            WHERE t.id = r.id)`;
}
