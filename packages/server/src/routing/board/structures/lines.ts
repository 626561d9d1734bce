import { including, none, without, type Board } from '../board.ts';
import type { Visit } from './changes.ts';
import { belongs } from './pools.ts';
import { newDeadline } from './deadlines.ts';
import { poolForTicket } from './board-pools.ts';
import type { QueueEntry, Queue, Ticket } from './state.ts';

/**
 * Tickets in their queues. A ticket has a place in each queue it is in; while it waits it also *stands*: in the line of
 * each of these queues, and where operators find it, in the pools that may serve it or with the operator it is held for.
 */

export function enterQueue(board: Board, ticket: Ticket, queue: Queue): void {
  const pool = poolForTicket(board, queue, ticket.narrowedTo);
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
  { outcome, destinationId }: Pick<Visit, 'outcome' | 'destinationId'>,
): void {
  const { queue, pool, enteredAt } = entry;
  ticket.entries = without(ticket.entries, entry);
  pool.entryCount -= 1;
  queue.visitors -= 1;
  board.changes.queues.add(queue);
  board.changes.tickets.add(ticket);
  board.changes.visits.push({
    queueId: queue.settings.id,
    ticketId: ticket.id,
    enqueuedAt: ticket.enqueuedAt,
    enteredAt,
    leftAt: board.now,
    outcome,
    destinationId,
  });
}

/** Begins to wait, or to wait under other conditions. */
export function enqueueInLine(board: Board, ticket: Ticket): void {
  let heldUntil = Infinity;
  for (const entry of ticket.entries) {
    const until = heldUntilOf(board, ticket, entry);
    entry.held = until !== null;
    entry.queue.line.add(ticket);
    if (until !== null) heldUntil = Math.min(heldUntil, until);
    else if (!ticket.inPools.includes(entry.pool)) ticket.inPools = including(ticket.inPools, entry.pool);
  }
  for (const pool of ticket.inPools) pool.waiting[ticket.medium].add(ticket);
  if (ticket.preferred !== null && ticket.entries.some(hasAffinity)) linkToPreferred(board, ticket, heldUntil);
  if (ticket.refusals !== null) dropExpiredRefusals(board, ticket);
  board.dirty.tickets.add(ticket);
}

/** Until when the place is kept for the operator who last engaged the visitor (D4.3); `null`: it is not. */
function heldUntilOf(board: Board, ticket: Ticket, { queue, pool }: QueueEntry): number | null {
  const { affinityMs } = queue.settings;
  if (affinityMs === null || ticket.preferred === null) return null;
  const until = ticket.enqueuedAt + affinityMs;
  const operator = board.operators.get(ticket.preferred);
  const couldServe = operator !== undefined && operator.settings.enabled && belongs(pool, operator.settings);
  return couldServe && until > board.now ? until : null;
}

/** Whether the queue waits for the operators whom its visitors know. */
function hasAffinity({ queue }: QueueEntry): boolean {
  return queue.settings.affinityMs !== null;
}

/** Stands with the operator it would rather have: to be found if it is held, to be looked at when they change. */
function linkToPreferred(board: Board, ticket: Ticket, heldUntil: number): void {
  if (ticket.preferred === null) return;
  const preferring = board.preferring.get(ticket.preferred) ?? new Set();
  board.preferring.set(ticket.preferred, preferring.add(ticket));
  if (heldUntil === Infinity) return;
  ticket.heldBy = board.operators.get(ticket.preferred) ?? null;
  ticket.heldBy?.held.add(ticket);
  board.deadlines.set((ticket.affinityDeadline ??= newDeadline('affinity', ticket.id)), heldUntil);
}

/** Stops waiting: it is offered, or ends, or the conditions change. */
export function removeFromLine(board: Board, ticket: Ticket): void {
  for (const { queue } of ticket.entries) queue.line.delete(ticket);
  for (const pool of ticket.inPools) pool.waiting[ticket.medium].delete(ticket);
  ticket.inPools = none;
  ticket.heldBy?.held.delete(ticket);
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

/** Forgets who is no longer spared, and sets the clock by the next. */
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
