import type { Party } from '../../../identity/party.ts';
import { Refusal } from '../../../platform/errors.ts';
import type { EngagementId, RequestId, TicketId } from '../../../platform/ids.ts';
import type { Board } from '../board.ts';
import { begin, dropTransfer, endEngagement } from './engagements.ts';
import { failAndRequeue } from './presence.ts';
import { failRequest } from './requests.ts';
import type { Engagement, Request, Ticket } from '../structures/state.ts';
import { endTicket } from './tickets.ts';

export interface Answer {
  readonly requestId: RequestId;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly by: Party;
  /** Set if the caller's application failed: the request then fails as `error`, with this message. */
  readonly error: { readonly message: string | null } | null;
}

/** The result of a command on something that is not on the board or not the caller's. The route then reads the stored row. */
export const notOnBoard = Symbol('not on the board');
type NotOnBoard = typeof notOnBoard;

/** Accepts, declines or cancels an offer or a direct request. */
export function answer(board: Board, { requestId, action, by, error }: Answer): Request | NotOnBoard {
  const request = board.requests.get(requestId);
  if (request === undefined || request.kind === 'transfer' || !isParty(request, by)) return notOnBoard;
  const isRequester = by.kind === request.origin;
  if (action === 'cancel') {
    refuseUnless(isRequester, 'Only the side that made the request may cancel it. The other side may decline it.');
    cancel(board, request, by, error);
    return request;
  }
  refuseUnless(!isRequester, `Only the invited side may ${action} the request. The other side may cancel it.`);
  if (action === 'accept') begin(board, request);
  else failAndRequeue(board, request, error === null ? 'rejected' : 'error', error?.message);
  return request;
}

function refuseUnless(isAllowed: boolean, detail: string): void {
  if (!isAllowed) throw new Refusal('forbidden', detail);
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

/** The target of a transfer accepts or declines it; the current operator of the engagement cancels it. */
export function answerTransfer(board: Board, { requestId, action, by, error }: Answer): Request | NotOnBoard {
  const request = board.requests.get(requestId);
  if (request === undefined || request.kind !== 'transfer') return notOnBoard;
  // The visitor is a party of the engagement, but only operators answer a transfer.
  const isTarget = by.kind === 'operator' && isParty(request, by);
  const isHolder = by.kind === 'operator' && request.engagement !== null && isParty(request.engagement, by);
  if (!isTarget && !isHolder) return notOnBoard;
  if (action === 'cancel') {
    refuseUnless(
      isHolder,
      'Only the current operator of the engagement may cancel the transfer. The target may decline it.',
    );
    if (request.engagement?.transfer) dropTransfer(board, request.engagement.transfer, 'operator_cancel');
    return request;
  }
  refuseUnless(isTarget, `Only the target of the transfer may ${action} it.`);
  if (action === 'accept') begin(board, request);
  else failAndRequeue(board, request, error === null ? 'rejected' : 'error', error?.message);
  return request;
}

export interface CancelTicket {
  readonly ticketId: TicketId;
  readonly kind: Ticket['kind'];
  /** The visitor, or an operator: a manager of the site, or the operator who started the transfer. */
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
