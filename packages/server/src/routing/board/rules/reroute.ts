import { admits, fallbacksOf, standingNow } from './admission.ts';
import type { Board } from '../board.ts';
import { addPlace, leavePlace, stand, unstand } from '../structures/lines.ts';
import type { Place, Queue, Ticket } from '../structures/state.ts';

/** What ends a ticket that no queue is left for. */
type EndUnstaffed = (ticket: Ticket) => void;

/** D3.5: queues that turned closed or unstaffed hand on those who wait in them. */
export function settleStandings(board: Board, endUnstaffed: EndUnstaffed): void {
  const turned: Queue[] = [];
  for (const queue of board.dirty.queues) {
    const standing = standingNow(queue);
    if (standing === queue.memory.standing) continue;
    queue.memory.standing = standing;
    board.changes.queues.add(queue);
    if (standing !== 'opened') turned.push(queue);
  }
  board.dirty.queues.clear();
  for (const queue of turned.toSorted(byId)) handOn(board, queue, endUnstaffed);
}

function byId(a: Queue, b: Queue): number {
  return a.settings.id < b.settings.id ? -1 : 1;
}

function handOn(board: Board, queue: Queue, endUnstaffed: EndUnstaffed): void {
  for (const ticket of Array.from(queue.line)) {
    const place = ticket.places.find((each) => each.queue === queue);
    if (place !== undefined) reroute(board, ticket, place, endUnstaffed);
  }
}

/**
 * One waiting ticket out of a queue that is closed or unstaffed: to the first of its fallbacks that admits it, or in which
 * it is already. Where there is none, a closed queue keeps it, and an unstaffed one lets it go.
 */
export function reroute(board: Board, ticket: Ticket, place: Place, endUnstaffed: EndUnstaffed): void {
  const isIn = (queue: Queue): boolean => ticket.places.some((each) => each.queue === queue);
  const target = fallbacksOf(board, place.queue).find((queue) => isIn(queue) || admits(board, queue, ticket));
  if (target === undefined && place.queue.memory.standing === 'closed') return;
  if (target === undefined && ticket.places.length === 1) return endUnstaffed(ticket);
  unstand(board, ticket);
  leavePlace(board, ticket, place, {
    outcome: target === undefined ? 'unstaffed' : 'moved',
    destinationId: target?.settings.id ?? null,
  });
  if (target !== undefined && !isIn(target)) addPlace(board, ticket, target);
  stand(board, ticket);
  return undefined;
}
