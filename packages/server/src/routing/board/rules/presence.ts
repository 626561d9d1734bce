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
  /** `null`: as before. */
  readonly media: MediaSet | null;
  /** How long it holds (D5.5); `null`: until changed. */
  readonly leaseMs: number | null;
  readonly reason: string | null;
}

/** What an operator says of itself. */
export function setPresence(board: Board, { operatorId, available, media, leaseMs, reason }: Presence): void {
  const operator = board.operators.get(operatorId);
  if (operator === undefined) throw notFound('operator', operatorId);
  const leaseUntil = leaseMs === null ? null : board.now + leaseMs;
  noteState(board, operator);
  change(board, operator, { available, leaseUntil, media: media ?? operator.settings.media });
  board.changes.presences.set(operatorId, { operator, reason });
}

function change(
  board: Board,
  operator: Operator,
  said: Pick<OperatorSettings, 'available' | 'leaseUntil' | 'media'>,
): void {
  applySettings(board, operator, { ...operator.settings, ...said });
}

/**
 * D5.2: what was asked of an operator who is no longer available, or no longer works on the site, comes to nothing; so does
 * what they asked, once they are gone. The engagements of an operator who was taken off a site end there at once: nobody
 * without a role on a site takes part in an engagement on it.
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

/** Whether the operator is the one who was asked. */
export function isInvited({ kind, origin }: Request): boolean {
  return kind === 'transfer' || origin === 'visitor';
}

/** The request comes to nothing; a ticket that was offered by it waits again. */
export function failAndRequeue(board: Board, request: Request, reason: FailReason, message: string | null = null): void {
  const { ticket, operator } = request;
  failRequest(board, request, reason, message);
  if (ticket === null) return;
  recordRefusal(board, ticket, operator, reason);
  requeue(board, ticket);
}

/** An operator let an offer time out: where the site wants it so, it is taken for absent. */
export function markMissedCall(board: Board, operator: Operator): void {
  if (!operator.settings.available) return;
  noteState(board, operator);
  change(board, operator, {
    available: false,
    leaseUntil: operator.settings.leaseUntil,
    media: operator.settings.media,
  });
  board.changes.presences.set(operator.settings.id, { operator, reason: 'missed_call' });
}

/** The operator's lease ran out long enough ago: what it was engaged in before has ended. */
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

/** Where tickets need presence, asking for one is a sign of life that counts for so long; any other counts for so long at most. */
const initialLeaseMs = 60_000;
const maxTicketLeaseMs = 120_000;

/** A visitor has made a ticket on a site where tickets need presence: without another sign of life the ticket ends. */
export function startInitialLease(board: Board, { id }: Visitor): void {
  setVisitorPresence(board, { visitorId: id, leaseMs: initialLeaseMs });
}

function needsPresence(board: Board, visitor: Visitor | undefined): boolean {
  const tickets = visitor?.tickets ?? [];
  return tickets.some(({ kind, siteId }) => kind === 'visitor' && siteOf(board, siteId).ticketNeedsPresence);
}

/** Whether or not the visitor has something on the board, what they say is written. */
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
 * They are still there. This makes nobody available who is not: an available operator whose lease has run out stays absent until
 * they say something. An operator who is away holds a lease too, so that statistics know how long they were there; theirs may
 * begin again, as they are no more available with it than without. Visitors with nothing on the board have nothing to lose, and
 * no lease to write.
 */
export function renewPresence(board: Board, { operatorIds, visitorIds, leaseMs }: Renewal): void {
  const until = board.now + leaseMs;
  for (const id of operatorIds) {
    const operator = board.operators.get(id);
    if (operator === undefined) continue;
    const { enabled, available, leaseUntil, media } = operator.settings;
    if (leaseUntil === null || leaseUntil >= until) continue;
    if (leaseUntil <= board.now) {
      if (available || !enabled) continue;
      noteState(board, operator);
    }
    change(board, operator, { available, leaseUntil: until, media });
    board.changes.renewals.add(operator);
  }
  for (const id of visitorIds) {
    const leaseUntil = board.visitors.get(id)?.leaseUntil;
    if (leaseUntil === null || (leaseUntil !== undefined && leaseUntil < until))
      setVisitorPresence(board, { visitorId: id, leaseMs });
  }
}

/**
 * Sets the clock by a visitor's lease. A lease that had run out before everything the visitor has asked for says nothing:
 * asking is a sign of life too.
 */
export function scheduleLeaseDeadlines(board: Board, visitor: Visitor): void {
  const { leaseUntil: until, tickets, requests, engagements } = visitor;
  const counts =
    until !== null &&
    (tickets.some((ticket) => ticket.enqueuedAt < until) ||
      requests.some((request) => request.createdAt < until && !isLasting(request)) ||
      engagements.some((engagement) => engagement.startedAt < until && !engagement.byPhone));
  if (!counts) {
    board.deadlines.clear(visitor.leaseDeadline);
    board.deadlines.clear(visitor.graceDeadline);
    return;
  }
  board.deadlines.set((visitor.leaseDeadline ??= newDeadline('visitor_lease', visitor.id)), until);
  board.deadlines.set((visitor.graceDeadline ??= newDeadline('visitor_grace', visitor.id)), until + graceMs);
}

/** The visitor is gone: it waits for nothing and nobody any more. What was sent to its phone it still has. */
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
