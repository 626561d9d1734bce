import type { OperatorId, QueueId, RequestId, SiteId, TicketId, VisitorId } from '../../../platform/ids.ts';
import { siteOf, type Board } from '../board.ts';
import type { Deadline } from '../structures/deadlines.ts';
import { takeExpired } from '../structures/expiry.ts';
import { dropExpiredRefusals } from '../structures/lines.ts';
import { match } from './matching.ts';
import {
  endAfterGrace,
  endVisitorAfterGrace,
  failAndRequeue,
  isInvited,
  markMissedCall,
  settleAbsent,
  visitorLeft,
} from './presence.ts';
import { rerouteUnavailableQueues } from './reroute.ts';
import { noteState, moveInLine, setOpen, setPresent } from './staffing.ts';
import type { Request, Ticket } from '../structures/state.ts';
import { endTicket } from './tickets.ts';

/**
 * Advances the board to the instant: handles every deadline that has passed, in order, and settles the board. A deadline that
 * is handled late takes effect at `now`: after an overdue offer, the next offer starts now.
 */
export function advance(board: Board, now: number): void {
  board.now = Math.max(board.now, now);
  for (let due = board.deadlines.next; due !== undefined && due.at <= board.now; due = board.deadlines.next) {
    const { at } = due;
    board.deadlines.clear(due);
    run(board, due, at);
  }
  settle(board);
}

function run(board: Board, { kind, id }: Deadline, at: number): void {
  switch (kind) {
    case 'hours':
      return ifOnBoard(board.queues.get(id as QueueId), (queue) => setOpen(board, queue));
    case 'operator_lease':
      return ifOnBoard(board.operators.get(id as OperatorId), (operator) => {
        const wasPresent = operator.present;
        setPresent(board, operator);
        noteState(board, operator);
        if (wasPresent && !operator.present) board.changes.availabilities.add(operator);
      });
    case 'operator_grace':
      return ifOnBoard(board.operators.get(id as OperatorId), (operator) => endAfterGrace(board, operator));
    case 'visitor_lease':
      return ifOnBoard(board.visitors.get(id as VisitorId), (visitor) => visitorLeft(board, visitor));
    case 'visitor_grace':
      return ifOnBoard(board.visitors.get(id as VisitorId), (visitor) => endVisitorAfterGrace(board, visitor));
    case 'offer':
      return ifOnBoard(board.requests.get(id as RequestId), (request) => timeOut(board, request));
    case 'ticket':
      for (const ticket of takeExpired(board, id as SiteId, at)) expire(board, ticket);
      return undefined;
    case 'refusal':
      return ifOnBoard(board.tickets.get(id as TicketId), (ticket) => {
        dropExpiredRefusals(board, ticket);
        board.dirty.tickets.add(ticket);
      });
    case 'affinity':
      return ifOnBoard(board.tickets.get(id as TicketId), (ticket) => moveInLine(board, ticket));
  }
}

function ifOnBoard<Item>(item: Item | undefined, act: (item: Item) => void): void {
  if (item !== undefined) act(item);
}

function timeOut(board: Board, request: Request): void {
  const { operator, siteId } = request;
  failAndRequeue(board, request, 'timed_out');
  if (isInvited(request) && siteOf(board, siteId).missedMakesUnavailable) markMissedCall(board, operator);
}

/** D3.6: a ticket that is offered does not expire now. If the offer fails, `requeue` ends the ticket. */
function expire(board: Board, ticket: Ticket): void {
  if (ticket.state === 'waiting') endTicket(board, ticket, 'expired');
}

function settleQueues(board: Board): void {
  rerouteUnavailableQueues(board, (ticket) => endTicket(board, ticket, 'unstaffed'));
}

/** Processes everything dirty, until nothing is left: processing may make more dirty. */
export function settle(board: Board): void {
  const { dirty } = board;
  for (;;) {
    if (dirty.absent.size > 0) settleAbsent(board);
    else if (dirty.queues.size > 0) settleQueues(board);
    else if (dirty.tickets.size > 0 || dirty.operators.size > 0) match(board);
    else return;
  }
}
