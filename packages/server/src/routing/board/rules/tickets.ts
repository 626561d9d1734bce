import type { FailReason, TicketState } from '@usher/contract/states';
import { countOpen } from './addresses.ts';
import { releaseVisitor, type Board } from '../board.ts';
import type { Visit } from '../structures/changes.ts';
import { expiresAt, joinExpiry, leaveExpiry } from '../structures/expiry.ts';
import { including, without } from '../structures/short-lists.ts';
import { leaveQueue, enqueueInLine, removeFromLine } from '../structures/lines.ts';
import { reroute } from './reroute.ts';
import type { Operator, Ticket } from '../structures/state.ts';

/** D4.5: how long a refused ticket is not offered to the same operator. */
const refusalMs = 60_000;

/** Adds a ticket to the board. Its queue entries must exist. */
export function addTicket(board: Board, ticket: Ticket): void {
  board.tickets.set(ticket.id, ticket);
  ticket.visitor.tickets = including(ticket.visitor.tickets, ticket);
  countOpen(board, ticket, 1);
  joinExpiry(board, ticket);
  if (ticket.state === 'waiting') enqueueInLine(board, ticket);
}

/** Removes a ticket from the board. Its queue entries stay. */
export function removeTicket(board: Board, ticket: Ticket): void {
  if (ticket.state === 'waiting') removeFromLine(board, ticket);
  board.tickets.delete(ticket.id);
  ticket.visitor.tickets = without(ticket.visitor.tickets, ticket);
  countOpen(board, ticket, -1);
  leaveExpiry(board, ticket);
}

/** Ends a ticket that is waiting or offered. Its offer must have ended before. */
export function endTicket(board: Board, ticket: Ticket, state: Exclude<TicketState, 'waiting' | 'offered'>): void {
  removeTicket(board, ticket);
  // An ended ticket keeps showing its last queues, although it is no longer counted in them.
  const { entries } = ticket;
  for (const entry of entries) {
    const outcome = outcomeOf(ticket, entry, state);
    const destinationId = outcome === 'engaged_elsewhere' ? ticket.matchedBy : null;
    leaveQueue(board, ticket, entry, { outcome, destinationId });
  }
  ticket.entries = entries;
  ticket.state = state;
  ticket.endedAt = board.now;
  if (ticket.kind === 'transfer' && ticket.engagement !== null && state !== 'engaged')
    ticket.engagement.transfer = null;
  board.changes.tickets.add(ticket);
  releaseVisitor(board, ticket.visitor);
}

function outcomeOf(ticket: Ticket, { queue }: Ticket['entries'][number], state: Visit['outcome']): Visit['outcome'] {
  return state === 'engaged' && ticket.matchedBy !== queue.settings.id ? 'engaged_elsewhere' : state;
}

/** D4.5: after a failed offer, the ticket returns to its position, or leaves the queues that became unavailable meanwhile. */
export function requeue(board: Board, ticket: Ticket): void {
  ticket.state = 'waiting';
  board.changes.tickets.add(ticket);
  if (expiresAt(board, ticket) <= board.now) return endOverdue(board, ticket);
  enqueueInLine(board, ticket);
  for (const entry of ticket.entries.slice()) {
    if (ticket.state !== 'waiting' || entry.queue.memory.lastStatus === 'opened') continue;
    reroute(board, ticket, entry, (ended) => endTicket(board, ended, 'unstaffed'));
  }
  return undefined;
}

/** Ends a ticket that expired while it was offered. */
function endOverdue(board: Board, ticket: Ticket): void {
  enqueueInLine(board, ticket);
  endTicket(board, ticket, 'expired');
}

/** D4.5: after a declined or missed offer, do not offer this ticket to this operator for 60 s, and end their affinity. */
export function recordRefusal(board: Board, ticket: Ticket, operator: Operator, reason: FailReason): void {
  if (reason !== 'rejected' && reason !== 'timed_out' && reason !== 'error') return;
  (ticket.refusals ??= new Map()).set(operator.settings.id, board.now + refusalMs);
  if (ticket.preferred === operator.settings.id) ticket.preferred = null;
}
