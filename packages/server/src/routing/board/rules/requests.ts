import type { Medium } from '@usher/contract/media';
import { type FailReason } from '@usher/contract/states';
import type { RequestId } from '../../../platform/ids.ts';
import { countOpen } from './addresses.ts';
import { releaseVisitor, siteOf, type Board } from '../board.ts';
import { including, without } from '../structures/short-lists.ts';
import { removeFromLine } from '../structures/lines.ts';
import { newRequest, type NewRequest } from '../structures/new-request.ts';
import { joinFreeLists, leaveFreeLists } from './staffing.ts';
import {
  isLasting,
  type Operator,
  type QueueEntry,
  type Request,
  type RequestNotes,
  type Ticket,
} from '../structures/state.ts';

/** Creates a pending request. It occupies the operator like an engagement, unless it is a lasting request. */
export function openRequest(board: Board, given: Omit<NewRequest, 'createdAt' | 'createdIn'>): Request {
  const request = newRequest({ ...given, createdAt: board.now, createdIn: board.changes });
  addRequest(board, request);
  board.changes.requests.add(request);
  return request;
}

/** Adds a pending request to the board: sets its deadline, and occupies its operator unless it is lasting. */
export function addRequest(board: Board, request: Request): void {
  board.requests.set(request.id, request);
  request.visitor.requests = including(request.visitor.requests, request);
  countOpen(board, request, 1);
  request.operator.requests = including(request.operator.requests, request);
  board.deadlines.set(request.deadline, request.createdAt + request.timeoutMs);
  if (!isLasting(request)) occupy(board, request.operator, request.medium, 1);
}

/** Removes a request from the board; `occupied` keeps its operator occupied for the engagement that it becomes. */
export function removeRequest(board: Board, request: Request, then: 'free' | 'occupied'): void {
  board.requests.delete(request.id);
  request.visitor.requests = without(request.visitor.requests, request);
  countOpen(board, request, -1);
  request.operator.requests = without(request.operator.requests, request);
  board.deadlines.clear(request.deadline);
  if (then === 'free' && !isLasting(request)) occupy(board, request.operator, request.medium, -1);
}

export function occupy(board: Board, operator: Operator, medium: Medium, by: 1 | -1): void {
  leaveFreeLists(operator);
  if (medium === 'text') operator.texts += by;
  else operator.exclusives += by;
  joinFreeLists(board, operator);
}

/** D4.5: an offer is a request to the operator that a queue has found. */
export function makeOffer(board: Board, ticket: Ticket, { queue }: QueueEntry, operator: Operator): void {
  removeFromLine(board, ticket);
  const { siteId } = queue.settings;
  const request = openRequest(board, {
    id: board.newId() as RequestId,
    kind: ticket.kind === 'transfer' ? 'transfer' : 'ticket',
    origin: ticket.kind === 'transfer' ? 'operator' : 'visitor',
    siteId,
    visitor: ticket.visitor,
    operator,
    medium: ticket.medium,
    queue,
    ticket,
    engagement: ticket.engagement,
    timeoutMs: siteOf(board, siteId).reactiveMs,
    notes: ticket.notes,
    // The ticket is counted.
    address: null,
  });
  ticket.request = request;
  ticket.state = 'offered';
  board.changes.tickets.add(ticket);
}

/**
 * Fails a request and appends its event (D5.1). The caller decides whether the ticket of the request is requeued or ends.
 */
export function failRequest(board: Board, request: Request, reason: FailReason, message: string | null = null): void {
  request.state = 'failed';
  request.failReason = reason;
  request.failMessage = reason === 'error' ? message : null;
  request.endedAt = board.now;
  removeRequest(board, request, 'free');
  board.changes.requests.add(request);
  const { ticket, engagement } = request;
  if (ticket !== null) ticket.request = null;
  if (request.kind === 'transfer') {
    if (ticket === null && engagement !== null) engagement.transfer = null;
  } else appendFailure(board, request, reason);
  releaseVisitor(board, request.visitor);
}

function appendFailure(board: Board, request: Request, reason: FailReason): void {
  const { id, siteId, visitor, operator, ticket } = request;
  const named = { id, site_id: siteId, visitor_id: visitor.id, operator_id: operator.settings.id };
  board.changes.events.push({
    type: 'engagement.request.failure',
    id: board.newId(),
    at: board.now,
    about: {
      siteId,
      ticketId: ticket?.id ?? null,
      requestId: id,
      engagementId: null,
      visitorId: visitor.id,
      operatorId: operator.settings.id,
      subscribers: request.notes.webhooks,
    },
    fields: {
      engagement_request:
        reason === 'error'
          ? { ...named, fail_reason: reason, fail_message: request.failMessage }
          : { ...named, fail_reason: reason },
    },
  });
}

interface RequestOrigin extends Pick<Request, 'kind' | 'origin'> {
  readonly notes: Pick<RequestNotes, 'source' | 'platform'>;
}

/** The source of an engagement: the one its request named, otherwise `sms`, `queue`, or the side that made the request. */
export function sourceOf({ kind, origin, notes }: RequestOrigin): string {
  if (notes.source !== null && notes.source !== '') return notes.source;
  if (notes.platform === 'sms') return 'sms';
  return kind === 'ticket' ? 'queue' : origin;
}
