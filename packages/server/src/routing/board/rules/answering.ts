import { Refusal } from '../../../platform/errors.ts';
import type { EngagementId, OperatorId, RequestId, SiteId, TicketId, VisitorId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import { begin, dropTransfer, endEngagement } from './engagements.ts';
import { failAndRequeue } from './presence.ts';
import { failRequest } from './requests.ts';
import type { Engagement, Request, Ticket } from '../structures/state.ts';
import { endTicket } from './tickets.ts';

/** Who acts. An operator's token may have been obtained for some sites: with it, what is on others is not the caller's. */
export type Party =
  | { readonly kind: 'operator'; readonly id: OperatorId; readonly onlyOn?: ReadonlySet<SiteId> }
  | { readonly kind: 'visitor'; readonly id: VisitorId };

export interface Answer {
  readonly requestId: RequestId;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly by: Party;
  /** The caller's application failed: that is told as the reason, with what it says about it. */
  readonly error: { readonly message: string | null } | null;
}

/** What came of a command on something that is not on the board, or not the caller's: the caller looks it up. */
export const notOnBoard = Symbol('not on the board');
type NotOnBoard = typeof notOnBoard;

/** Of a ticket's or a direct request; it is answered as it is then. */
export function answer(board: Board, { requestId, action, by, error }: Answer): Request | NotOnBoard {
  const request = board.requests.get(requestId);
  if (request === undefined || request.kind === 'transfer' || !isParty(request, by)) return notOnBoard;
  const isRequester = by.kind === request.origin;
  if (action === 'cancel') {
    refuseUnless(isRequester, 'Only the side that asked may cancel. The other may decline.');
    cancel(board, request, by, error);
    return request;
  }
  refuseUnless(!isRequester, `Only the side that was asked may ${action}. The other may cancel.`);
  if (action === 'accept') begin(board, request);
  else failAndRequeue(board, request, error === null ? 'rejected' : 'error', error?.message);
  return request;
}

function refuseUnless(may: boolean, why: string): void {
  if (!may) throw new Refusal('forbidden', why);
}

export function isParty({ operator, visitor, siteId }: Request | Engagement, by: Party): boolean {
  if (by.kind === 'visitor') return visitor.id === by.id;
  return operator.settings.id === by.id && by.onlyOn?.has(siteId) !== false;
}

function cancel(board: Board, request: Request, by: Party, error: Answer['error']): void {
  const reason = error === null ? (by.kind === 'visitor' ? 'visitor_cancel' : 'operator_cancel') : 'error';
  failRequest(board, request, reason, error?.message);
  if (request.ticket !== null) endTicket(board, request.ticket, 'canceled');
}

/** Of a transfer: the target accepts or declines, the operator who has the engagement cancels. */
export function answerTransfer(board: Board, { requestId, action, by, error }: Answer): Request | NotOnBoard {
  const request = board.requests.get(requestId);
  if (request === undefined || request.kind !== 'transfer') return notOnBoard;
  // The visitor is in it, but it is the operators' affair.
  const isTarget = by.kind === 'operator' && isParty(request, by);
  const isHolder = by.kind === 'operator' && request.engagement !== null && isParty(request.engagement, by);
  if (!isTarget && !isHolder) return notOnBoard;
  if (action === 'cancel') {
    refuseUnless(isHolder, 'Only the operator who has the engagement may cancel. The other may decline.');
    if (request.engagement?.transfer) dropTransfer(board, request.engagement.transfer, 'operator_cancel');
    return request;
  }
  refuseUnless(isTarget, `Only the operator who was asked may ${action}.`);
  if (action === 'accept') begin(board, request);
  else failAndRequeue(board, request, error === null ? 'rejected' : 'error', error?.message);
  return request;
}

export interface CancelTicket {
  readonly ticketId: TicketId;
  readonly kind: Ticket['kind'];
  /** The visitor, or an operator: a manager of the site, or the one who is transferring. */
  readonly by: Party['kind'];
}

export function cancelTicket(board: Board, { ticketId, kind, by }: CancelTicket): Ticket | NotOnBoard {
  const ticket = board.tickets.get(ticketId);
  if (ticket === undefined || ticket.kind !== kind) return notOnBoard;
  if (ticket.request !== null)
    failRequest(board, ticket.request, by === 'visitor' ? 'visitor_cancel' : 'operator_cancel');
  endTicket(board, ticket, 'canceled');
  return ticket;
}

export interface EndEngagement {
  readonly engagementId: EngagementId;
  readonly by: Party;
  readonly error: boolean;
}

export function end(board: Board, { engagementId, by, error }: EndEngagement): Engagement | NotOnBoard {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || !isParty(engagement, by)) return notOnBoard;
  endEngagement(board, engagement, error ? 'error' : by.kind === 'visitor' ? 'visitor_hung_up' : 'operator_hung_up');
  return engagement;
}
