import { type FailReason } from '@usher/contract/states';
import { notFound } from '../../../platform/errors.ts';
import type { OperatorId, VisitorId } from '../../../platform/ids.ts';
import { byAge, siteOf, type Board } from '../board.ts';
import { newDeadline } from '../structures/deadlines.ts';
import { endEngagement } from './engagements.ts';
import type { MediaSet } from '../structures/media.ts';
import { failRequest } from './requests.ts';
import { graceMs, noteState, applySettings } from './staffing.ts';
import { isLasting, type Operator, type OperatorSettings, type Request, type Visitor } from '../structures/state.ts';
import { endTicket, recordRefusal, requeue } from './tickets.ts';

export interface Presence {
  readonly operatorId: OperatorId;
  readonly available: boolean;
  /** `null`: unchanged. */
  readonly media: MediaSet | null;
  /** D5.5: how long the presence lasts; `null`: until changed. */
  readonly leaseMs: number | null;
  readonly reason: string | null;
}

/** Sets the presence of an operator. */
export function setPresence(board: Board, { operatorId, available, media, leaseMs, reason }: Presence): void {
  const operator = board.operators.get(operatorId);
  if (operator === undefined) throw notFound('operator', operatorId);
  const leaseUntil = leaseMs === null ? null : board.now + leaseMs;
  noteState(board, operator);
  updatePresence(board, operator, { available, leaseUntil, media: media ?? operator.settings.media });
  board.changes.presences.set(operatorId, { operator, reason });
}

function updatePresence(
  board: Board,
  operator: Operator,
  presence: Pick<OperatorSettings, 'available' | 'leaseUntil' | 'media'>,
): void {
  applySettings(board, operator, { ...operator.settings, ...presence });
}

/**
 * D5.2: requests to an operator who became unavailable, or who was removed from the site, fail. So do the requests they made, once
 * their lease has ended or they are disabled. The engagements of an operator on a site they were removed from end at once, because
 * nobody without a role on a site takes part in an engagement there.
 */
export function settleAbsent(board: Board): void {
  const absent = [...board.dirty.absent].toSorted((a, b) => (a.settings.id < b.settings.id ? -1 : 1));
  board.dirty.absent.clear();
  for (const operator of absent) {
    const { enabled, leaseUntil, sites } = operator.settings;
    const isLost = (request: Request): boolean => {
      if (!enabled || leaseUntil === null) return !enabled;
      return !isLasting(request) && leaseUntil <= board.now && request.createdAt < leaseUntil;
    };
    for (const request of byAge(operator.requests, ({ createdAt }) => createdAt)) {
      const isAbsent = !operator.present && (isInvited(request) || isLost(request));
      if (isAbsent || !sites.has(request.siteId)) failAndRequeue(board, request, 'operator_left');
    }
    for (const engagement of byAge(operator.engagements, ({ startedAt }) => startedAt))
      if (!sites.has(engagement.siteId)) endEngagement(board, engagement, 'operator_left');
  }
}

/** Whether the operator is the invited side. */
export function isInvited({ kind, origin }: Request): boolean {
  return kind === 'transfer' || origin === 'visitor';
}

/** Fails a request, and requeues its ticket if it was an offer. */
export function failAndRequeue(
  board: Board,
  request: Request,
  reason: FailReason,
  message: string | null = null,
): void {
  const { ticket, operator } = request;
  failRequest(board, request, reason, message);
  if (ticket === null) return;
  recordRefusal(board, ticket, operator, reason);
  requeue(board, ticket);
}

/** D4.5: makes an operator unavailable after a missed offer. */
export function markMissedCall(board: Board, operator: Operator): void {
  if (!operator.settings.available) return;
  noteState(board, operator);
  updatePresence(board, operator, {
    available: false,
    leaseUntil: operator.settings.leaseUntil,
    media: operator.settings.media,
  });
  board.changes.presences.set(operator.settings.id, { operator, reason: 'missed_call' });
}

/** D5.3: when the grace period after an operator's lease is over, ends the engagements they had before the lease ended. */
export function endAfterGrace(board: Board, operator: Operator): void {
  const { leaseUntil } = operator.settings;
  if (leaseUntil === null || leaseUntil + graceMs > board.now) return;
  for (const engagement of byAge(operator.engagements, ({ startedAt }) => startedAt))
    if (engagement.subStartedAt < leaseUntil) endEngagement(board, engagement, 'operator_left');
}

export interface VisitorPresence {
  readonly visitorId: VisitorId;
  readonly leaseMs: number;
}

/** On a site where tickets need presence: the lease that a new ticket starts, and the longest lease while a ticket is active. */
const initialLeaseMs = 60_000;
const maxTicketLeaseMs = 120_000;

/** Starts the lease of a new ticket on a site where tickets need presence: the ticket ends unless the visitor renews it. */
export function startInitialLease(board: Board, { id }: Visitor): void {
  setVisitorPresence(board, { visitorId: id, leaseMs: initialLeaseMs });
}

function needsPresence(board: Board, visitor: Visitor | undefined): boolean {
  const tickets = visitor?.tickets ?? [];
  return tickets.some(({ kind, siteId }) => kind === 'visitor' && siteOf(board, siteId).ticketNeedsPresence);
}

/** Sets the lease of a visitor. It is written even if the visitor has nothing on the board. */
export function setVisitorPresence(board: Board, { visitorId, leaseMs }: VisitorPresence): void {
  const visitor = board.visitors.get(visitorId);
  const leaseUntil = board.now + (needsPresence(board, visitor) ? Math.min(leaseMs, maxTicketLeaseMs) : leaseMs);
  board.changes.visitorLeases.set(visitorId, leaseUntil);
  if (visitor === undefined) return;
  visitor.leaseUntil = leaseUntil;
  scheduleLeaseDeadlines(board, visitor);
}

export interface Renewal {
  readonly operatorIds: readonly OperatorId[];
  readonly visitorIds: readonly VisitorId[];
  readonly leaseMs: number;
}

/**
 * Renews the leases of connected operators and visitors. Renewing makes nobody available: an available operator whose lease has
 * ended stays absent until they set their presence. There are two exceptions. An operator with an engagement in its grace period came
 * back in time: they are available again, and the engagement goes on. An operator who is away has a lease too, so that statistics
 * know how long they were online; it may be renewed after its end, because it does not make them available. Visitors with nothing on
 * the board need no lease.
 */
export function renewPresence(board: Board, { operatorIds, visitorIds, leaseMs }: Renewal): void {
  const until = board.now + leaseMs;
  for (const id of operatorIds) {
    const operator = board.operators.get(id);
    if (operator === undefined) continue;
    const { enabled, available, leaseUntil, media } = operator.settings;
    if (leaseUntil === null || leaseUntil >= until) continue;
    if (leaseUntil <= board.now) {
      if (!enabled || (available && !isInGrace(operator, leaseUntil))) continue;
      noteState(board, operator);
      if (available) board.changes.availabilities.add(operator);
    }
    updatePresence(board, operator, { available, leaseUntil: until, media });
    board.changes.renewals.add(operator);
  }
  for (const id of visitorIds) {
    const leaseUntil = board.visitors.get(id)?.leaseUntil;
    if (leaseUntil === null || (leaseUntil !== undefined && leaseUntil < until))
      setVisitorPresence(board, { visitorId: id, leaseMs });
  }
}

/** D5.3: whether an engagement of the operator is in its grace period. When the period is over, no such engagement is left. */
function isInGrace({ engagements }: Operator, leaseUntil: number): boolean {
  return engagements.some(({ subStartedAt }) => subStartedAt < leaseUntil);
}

/**
 * Sets the deadlines of a visitor's lease. A lease counts only for what began before it ended: a newer ticket or request shows that
 * the visitor came back.
 */
export function scheduleLeaseDeadlines(board: Board, visitor: Visitor): void {
  const { leaseUntil: until } = visitor;
  if (until === null || !hasAnythingBefore(visitor, until)) {
    board.deadlines.clear(visitor.leaseDeadline);
    board.deadlines.clear(visitor.graceDeadline);
    return;
  }
  board.deadlines.set((visitor.leaseDeadline ??= newDeadline('visitor_lease', visitor.id)), until);
  board.deadlines.set((visitor.graceDeadline ??= newDeadline('visitor_grace', visitor.id)), until + graceMs);
}

function hasAnythingBefore({ tickets, requests, engagements }: Visitor, until: number): boolean {
  return (
    tickets.some((ticket) => ticket.enqueuedAt < until) ||
    requests.some((request) => request.createdAt < until && !isLasting(request)) ||
    engagements.some((engagement) => engagement.startedAt < until && !engagement.byPhone)
  );
}

/** Ends the tickets and direct requests of a visitor whose lease has ended. Lasting requests stay: they are on the visitor's phone. */
export function visitorLeft(board: Board, visitor: Visitor): void {
  const { leaseUntil } = visitor;
  if (leaseUntil === null || leaseUntil > board.now) return;
  for (const ticket of byAge(visitor.tickets, ({ seq }) => seq)) {
    if (ticket.kind !== 'visitor' || ticket.enqueuedAt >= leaseUntil) continue;
    if (ticket.request !== null) failRequest(board, ticket.request, 'visitor_left');
    endTicket(board, ticket, 'visitor_left');
  }
  for (const request of byAge(visitor.requests, ({ createdAt }) => createdAt))
    if (request.kind === 'direct' && request.createdAt < leaseUntil && !isLasting(request))
      failRequest(board, request, 'visitor_left');
}

export function endVisitorAfterGrace(board: Board, visitor: Visitor): void {
  const { leaseUntil } = visitor;
  if (leaseUntil === null || leaseUntil + graceMs > board.now) return;
  for (const engagement of byAge(visitor.engagements, ({ startedAt }) => startedAt))
    if (engagement.startedAt < leaseUntil && !engagement.byPhone) endEngagement(board, engagement, 'visitor_left');
}
