import { including, none, without, type Board } from '../board.ts';
import type { Visit } from './changes.ts';
import { belongs } from './pools.ts';
import { newDeadline } from './deadlines.ts';
import { servantsOf } from './pooling.ts';
import type { Place, Queue, Ticket } from './state.ts';

/**
 * Tickets in their queues. A ticket has a place in each queue it is in; while it waits it also *stands*: in the line of
 * each of these queues, and where operators find it, in the pools that may serve it or with the operator it is held for.
 */

export function addPlace(board: Board, ticket: Ticket, queue: Queue): void {
  const pool = servantsOf(board, queue, ticket.narrowedTo);
  ticket.places = including(ticket.places, { queue, pool, enteredAt: board.now, held: false });
  pool.places += 1;
  queue.visitors += 1;
  board.changes.queues.add(queue);
  board.changes.tickets.add(ticket);
}

export function leavePlace(
  board: Board,
  ticket: Ticket,
  place: Place,
  { outcome, destinationId }: Pick<Visit, 'outcome' | 'destinationId'>,
): void {
  const { queue, pool, enteredAt } = place;
  ticket.places = without(ticket.places, place);
  pool.places -= 1;
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
export function stand(board: Board, ticket: Ticket): void {
  let heldUntil = Infinity;
  for (const place of ticket.places) {
    const until = holdOf(board, ticket, place);
    place.held = until !== null;
    place.queue.line.add(ticket);
    if (until !== null) heldUntil = Math.min(heldUntil, until);
    else if (!ticket.inPools.includes(place.pool)) ticket.inPools = including(ticket.inPools, place.pool);
  }
  for (const pool of ticket.inPools) pool.waiting[ticket.medium].add(ticket);
  if (ticket.preferred !== null && ticket.places.some(keepsPlaces)) want(board, ticket, heldUntil);
  if (ticket.refusals !== null) dropSpentRefusals(board, ticket);
  board.dirty.tickets.add(ticket);
}

/** Until when the place is kept for the operator who last engaged the visitor (D4.3); `null`: it is not. */
function holdOf(board: Board, ticket: Ticket, { queue, pool }: Place): number | null {
  const { affinityMs } = queue.settings;
  if (affinityMs === null || ticket.preferred === null) return null;
  const until = ticket.enqueuedAt + affinityMs;
  const operator = board.operators.get(ticket.preferred);
  const couldServe = operator !== undefined && operator.settings.enabled && belongs(pool, operator.settings);
  return couldServe && until > board.now ? until : null;
}

/** Whether the queue waits for the operators whom its visitors know. */
function keepsPlaces({ queue }: Place): boolean {
  return queue.settings.affinityMs !== null;
}

/** Stands with the operator it would rather have: to be found if it is held, to be looked at when they change. */
function want(board: Board, ticket: Ticket, heldUntil: number): void {
  if (ticket.preferred === null) return;
  const wanting = board.wanting.get(ticket.preferred) ?? new Set();
  board.wanting.set(ticket.preferred, wanting.add(ticket));
  if (heldUntil === Infinity) return;
  ticket.heldBy = board.operators.get(ticket.preferred) ?? null;
  ticket.heldBy?.held.add(ticket);
  board.deadlines.set((ticket.affinityDeadline ??= newDeadline('affinity', ticket.id)), heldUntil);
}

/** Stops waiting: it is offered, or ends, or the conditions change. */
export function unstand(board: Board, ticket: Ticket): void {
  for (const { queue } of ticket.places) queue.line.delete(ticket);
  for (const pool of ticket.inPools) pool.waiting[ticket.medium].delete(ticket);
  ticket.inPools = none;
  ticket.heldBy?.held.delete(ticket);
  ticket.heldBy = null;
  if (ticket.preferred !== null) {
    const wanting = board.wanting.get(ticket.preferred);
    wanting?.delete(ticket);
    if (wanting?.size === 0) board.wanting.delete(ticket.preferred);
  }
  if (ticket.refusals !== null) board.refused.delete(ticket);
  board.deadlines.clear(ticket.affinityDeadline);
  board.deadlines.clear(ticket.refusalDeadline);
  board.dirty.tickets.delete(ticket);
}

/** Forgets who is no longer spared, and sets the clock by the next. */
export function dropSpentRefusals(board: Board, ticket: Ticket): void {
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
