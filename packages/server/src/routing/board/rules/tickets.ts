import type { FailReason, TicketState } from '@usher/contract/states';
import { countOpen } from './addresses.ts';
import { including, none, releaseVisitor, without, type Board } from '../board.ts';
import type { Visit } from '../structures/changes.ts';
import { expiresAt, joinExpiry, leaveExpiry } from '../structures/expiry.ts';
import { leaveQueue, enqueueInLine, removeFromLine } from '../structures/lines.ts';
import { reroute } from './reroute.ts';
import type { Operator, Ticket } from '../structures/state.ts';

/** So long a refused ticket is not offered to the same operator again (D4.5). */
const refusalMs = 60_000;

/** As much of a ticket as its maker must say. */
type NewTicket = Omit<
  Ticket,
  | 'state' | 'changedIn' | 'dirtyIn' | 'endedAt' | 'engagementId' | 'matchedBy' | 'entries' | 'request' | 'inPools' | 'heldBy' | 'refusals'
  | 'expires' | 'refusalDeadline' | 'affinityDeadline'
>; // prettier-ignore

export function newTicket(given: NewTicket): Ticket {
  // Field by field: a spread costs more than everything else about a ticket, and there may be many.
  return {
    id: given.id,
    seq: given.seq,
    kind: given.kind,
    siteId: given.siteId,
    visitor: given.visitor,
    medium: given.medium,
    enqueuedAt: given.enqueuedAt,
    criteria: given.criteria,
    visitorTeams: given.visitorTeams,
    narrowedTo: given.narrowedTo,
    engagement: given.engagement,
    neverTo: given.neverTo,
    preferred: given.preferred,
    notes: given.notes,
    address: given.address,
    createdIn: given.createdIn,
    changedIn: null,
    dirtyIn: null,
    state: 'waiting',
    endedAt: null,
    engagementId: null,
    matchedBy: null,
    refusals: null,
    entries: none,
    request: null,
    inPools: none,
    heldBy: null,
    expires: false,
    refusalDeadline: null,
    affinityDeadline: null,
  };
}

/** On the board; its places are filled by now. */
export function addTicket(board: Board, ticket: Ticket): void {
  board.tickets.set(ticket.id, ticket);
  ticket.visitor.tickets = including(ticket.visitor.tickets, ticket);
  countOpen(board, ticket, 1);
  joinExpiry(board, ticket);
  if (ticket.state === 'waiting') enqueueInLine(board, ticket);
}

/** Off the board, whatever became of it. */
export function removeTicket(board: Board, ticket: Ticket): void {
  if (ticket.state === 'waiting') removeFromLine(board, ticket);
  board.tickets.delete(ticket.id);
  ticket.visitor.tickets = without(ticket.visitor.tickets, ticket);
  countOpen(board, ticket, -1);
  leaveExpiry(board, ticket);
}

/** No longer waiting or under offer. A request that offered it must have ended before. */
export function endTicket(board: Board, ticket: Ticket, state: Exclude<TicketState, 'waiting' | 'offered'>): void {
  removeTicket(board, ticket);
  // What it shows is where it was; who is in a queue is counted there.
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

/** The offer came to nothing: it goes back with its place (D4.5), to where it may still wait. */
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

/** Its time ran out while it was under offer. */
function endOverdue(board: Board, ticket: Ticket): void {
  enqueueInLine(board, ticket);
  endTicket(board, ticket, 'expired');
}

/** The operator would not have it, or did not answer: it is spared for a while, and no queue waits for it any more. */
export function recordRefusal(board: Board, ticket: Ticket, operator: Operator, reason: FailReason): void {
  if (reason !== 'rejected' && reason !== 'timed_out' && reason !== 'error') return;
  (ticket.refusals ??= new Map()).set(operator.settings.id, board.now + refusalMs);
  if (ticket.preferred === operator.settings.id) ticket.preferred = null;
}
