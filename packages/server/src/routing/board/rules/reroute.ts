import { admits, fallbacksOf, currentStatus } from './admission.ts';
import type { Board } from '../board.ts';
import { enterQueue, leaveQueue, enqueueInLine, removeFromLine } from '../structures/lines.ts';
import type { QueueEntry, Queue, Ticket } from '../structures/state.ts';

/** Ends a ticket that no queue keeps. */
type EndUnstaffed = (ticket: Ticket) => void;

/** D3.5: reroutes the waiting tickets of queues that became closed or unstaffed. */
export function rerouteUnavailableQueues(board: Board, endUnstaffed: EndUnstaffed): void {
  const unavailable: Queue[] = [];
  for (const queue of board.dirty.queues) {
    const status = currentStatus(queue);
    if (status === queue.memory.lastStatus) continue;
    queue.memory.lastStatus = status;
    board.changes.queues.add(queue);
    if (status !== 'opened') unavailable.push(queue);
  }
  board.dirty.queues.clear();
  for (const queue of unavailable.toSorted(byId)) rerouteAll(board, queue, endUnstaffed);
}

function byId(a: Queue, b: Queue): number {
  return a.settings.id < b.settings.id ? -1 : 1;
}

function rerouteAll(board: Board, queue: Queue, endUnstaffed: EndUnstaffed): void {
  for (const ticket of Array.from(queue.line)) {
    const entry = ticket.entries.find((each) => each.queue === queue);
    if (entry !== undefined) reroute(board, ticket, entry, endUnstaffed);
  }
}

/**
 * Moves a waiting ticket out of a closed or unstaffed queue, to the first fallback that admits it or already has it. If there is
 * none, a closed queue keeps the ticket, and an unstaffed one drops it.
 */
export function reroute(board: Board, ticket: Ticket, entry: QueueEntry, endUnstaffed: EndUnstaffed): void {
  const isIn = (queue: Queue): boolean => ticket.entries.some((each) => each.queue === queue);
  const target = fallbacksOf(board, entry.queue).find((queue) => isIn(queue) || admits(board, queue, ticket));
  if (target === undefined && entry.queue.memory.lastStatus === 'closed') return;
  if (target === undefined && ticket.entries.length === 1) return endUnstaffed(ticket);
  removeFromLine(board, ticket);
  leaveQueue(board, ticket, entry, {
    outcome: target === undefined ? 'unstaffed' : 'moved',
    destinationId: target?.settings.id ?? null,
  });
  if (target !== undefined && !isIn(target)) enterQueue(board, ticket, target);
  enqueueInLine(board, ticket);
  return undefined;
}
