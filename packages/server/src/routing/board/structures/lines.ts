import type { Board } from '../board.ts';
import { including, without } from './short-lists.ts';
import type { Visit } from './changes.ts';
import { belongs } from './pools.ts';
import { newDeadline } from './deadlines.ts';
import { poolForTicket } from './board-pools.ts';
import type { Pool, QueueEntry, Queue, Ticket } from './state.ts';
import { newTicketLine } from './ticket-line.ts';

/**
 * Tickets in their queues. A ticket has an entry in each of its queues. While it waits, it is also in the line of each of
 * these queues, and in the lines where operators find it: those of its pools, or the one of the operator it is held for.
 */

export function enterQueue(board: Board, ticket: Ticket, queue: Queue): void {
  const pool = poolForTicket(board, queue, ticket.requiredTeams);
  ticket.entries = including(ticket.entries, { queue, pool, enteredAt: board.now, held: false });
  pool.entryCount += 1;
  queue.visitors += 1;
  board.changes.queues.add(queue);
  board.changes.tickets.add(ticket);
}

export function leaveQueue(
  board: Board,
  ticket: Ticket,
  entry: QueueEntry,
  how: Pick<Visit, 'outcome' | 'destinationId'>,
): void {
  const { queue, pool } = entry;
  ticket.entries = without(ticket.entries, entry);
  pool.entryCount -= 1;
  queue.visitors -= 1;
  board.changes.queues.add(queue);
  board.changes.tickets.add(ticket);
  board.changes.visits.push({
    queueId: queue.settings.id,
    ticketId: ticket.id,
    enqueuedAt: ticket.enqueuedAt,
    enteredAt: entry.enteredAt,
    leftAt: board.now,
    ...how,
  });
}

/** Adds a waiting ticket to the lines of its queues, pools and preferred operator. */
export function enqueueInLine(board: Board, ticket: Ticket): void {
  let heldUntil = Infinity;
  for (const entry of ticket.entries) {
    const until = heldUntilOf(board, ticket, entry);
    entry.held = until !== null;
    entry.queue.line.add(ticket);
    if (until !== null) heldUntil = Math.min(heldUntil, until);
    else if (ticket.entries.length === 1 || firstInPool(ticket, entry.pool) === entry) entry.pool.waiting.add(ticket);
  }
  if (ticket.preferred !== null && ticket.entries.some(hasAffinity)) linkToPreferred(board, ticket, heldUntil);
  if (ticket.refusals !== null) dropExpiredRefusals(board, ticket);
  board.dirty.tickets.add(ticket);
}

/** The first entry by which the ticket waits in the pool: queues may share a pool, in whose line the ticket is once. */
function firstInPool({ entries }: Ticket, pool: Pool): QueueEntry | undefined {
  return entries.find((entry) => entry.pool === pool && !entry.held);
}

/** D4.3: until when the queue holds the ticket for the operator who last engaged the visitor; `null`: no hold. */
function heldUntilOf(board: Board, ticket: Ticket, { queue, pool }: QueueEntry): number | null {
  const { affinityMs } = queue.settings;
  if (affinityMs === null || ticket.preferred === null) return null;
  const until = ticket.enqueuedAt + affinityMs;
  const operator = board.operators.get(ticket.preferred);
  const couldServe = operator !== undefined && operator.settings.enabled && belongs(pool, operator.settings);
  return couldServe && until > board.now ? until : null;
}

/** Whether the queue has operator affinity (D4.3). */
function hasAffinity({ queue }: QueueEntry): boolean {
  return queue.settings.affinityMs !== null;
}

/** Links the ticket to its preferred operator: they find it if it is held, and their changes re-evaluate it. */
function linkToPreferred(board: Board, ticket: Ticket, heldUntil: number): void {
  if (ticket.preferred === null) return;
  const preferring = board.preferring.get(ticket.preferred) ?? new Set();
  board.preferring.set(ticket.preferred, preferring.add(ticket));
  if (heldUntil === Infinity) return;
  ticket.heldBy = board.operators.get(ticket.preferred) ?? null;
  if (ticket.heldBy !== null) (ticket.heldBy.held ??= newTicketLine()).add(ticket);
  board.deadlines.set((ticket.affinityDeadline ??= newDeadline('affinity', ticket.id)), heldUntil);
}

/** Removes a ticket from every line, because it is offered, ends, or is about to be re-added. */
export function removeFromLine(board: Board, ticket: Ticket): void {
  for (const { queue, pool, held } of ticket.entries) {
    queue.line.delete(ticket);
    if (!held) pool.waiting.delete(ticket);
  }
  ticket.heldBy?.held?.delete(ticket);
  ticket.heldBy = null;
  if (ticket.preferred !== null) {
    const preferring = board.preferring.get(ticket.preferred);
    preferring?.delete(ticket);
    if (preferring?.size === 0) board.preferring.delete(ticket.preferred);
  }
  if (ticket.refusals !== null) board.refused.delete(ticket);
  board.deadlines.clear(ticket.affinityDeadline);
  board.deadlines.clear(ticket.refusalDeadline);
  board.dirty.tickets.delete(ticket);
}

/** Drops the refusals that have expired (D4.5), and sets the deadline of the next one. */
export function dropExpiredRefusals(board: Board, ticket: Ticket): void {
  const { refusals } = ticket;
  if (refusals === null) return;
  for (const [operatorId, until] of refusals) if (until <= board.now) refusals.delete(operatorId);
  if (refusals.size === 0) {
    ticket.refusals = null;
    board.refused.delete(ticket);
    board.deadlines.clear(ticket.refusalDeadline);
    return;
  }
  board.refused.add(ticket);
  const deadline = (ticket.refusalDeadline ??= newDeadline('refusal', ticket.id));
  board.deadlines.set(deadline, Math.min(...refusals.values()));
}
