import { maxOfferTimeoutSec } from '@usher/contract/limits';
import { longestOutageMs } from '../../../platform/clock/clock-store.ts';
import type { Board } from '../board.ts';
import { isLasting, type Operator, type Request, type Visitor } from '../structures/state.ts';
import { scheduleLeaseDeadlines } from './presence.ts';
import { applySettings, graceMs } from './staffing.ts';

/** The longest that an offer waits for its answer: the longest time that a site may set, and an outage. */
export const longestOfferMs = maxOfferTimeoutSec * 1_000 + longestOutageMs;

export interface Outage {
  /** How long no process reached the database, since the last turn. */
  readonly outageMs: number;
  /** The instant of the last turn, which handled every deadline before it. */
  readonly lastTurnAt: number;
}

/**
 * D5.15: time in which no process reached the database does not count for leases, grace periods and offers, because nobody could
 * renew, come back or answer. Each has as much time left as before the outage. Waiting times and durations are facts, so they include
 * the outage. Must be called before the deadlines that passed in the outage are handled.
 */
export function excuseOutage(board: Board, outage: Outage): void {
  for (const operator of board.operators.values()) excuseOperator(board, operator, outage);
  for (const visitor of board.visitors.values()) excuseVisitor(board, visitor, outage);
  for (const request of board.requests.values()) excuseRequest(board, request, outage);
}

function excuseOperator(board: Board, operator: Operator, outage: Outage): void {
  const { settings, engagements, requests } = operator;
  const engaged = engagements.map(({ subStartedAt }) => subStartedAt);
  const leaseUntil = excusedLease(settings.leaseUntil, outage, {
    engaged,
    others: requests.map(({ createdAt }) => createdAt),
  });
  if (leaseUntil === null || leaseUntil === settings.leaseUntil) return;
  applySettings(board, operator, { ...settings, leaseUntil });
  board.changes.renewals.add(operator);
  // Whoever read the lease after the outage took the operator for unavailable.
  if (operator.present) board.changes.availabilities.add(operator);
}

function excuseVisitor(board: Board, visitor: Visitor, outage: Outage): void {
  const engagements = visitor.engagements.filter(({ byPhone }) => !byPhone);
  const leaseUntil = excusedLease(visitor.leaseUntil, outage, {
    engaged: engagements.map(({ startedAt }) => startedAt),
    others: [
      ...visitor.tickets.map(({ enqueuedAt }) => enqueuedAt),
      ...visitor.requests.map(({ createdAt }) => createdAt),
    ],
  });
  if (leaseUntil === visitor.leaseUntil) return;
  visitor.leaseUntil = leaseUntil;
  board.changes.visitorLeases.set(visitor.id, leaseUntil);
  scheduleLeaseDeadlines(board, visitor);
}

/** When the engagements of somebody began, and their tickets and requests. */
interface Starts {
  readonly engaged: readonly number[];
  readonly others: readonly number[];
}

/**
 * A lease that had ended is moved only if it began the grace period of an engagement, and not past anything that began after its end:
 * that shows that its holder had come back, and must not end with the lease.
 */
function excusedLease(leaseUntil: number | null, { outageMs, lastTurnAt }: Outage, starts: Starts): number | null {
  if (leaseUntil === null || leaseUntil > lastTurnAt) return leaseUntil === null ? null : leaseUntil + outageMs;
  const isInGrace = leaseUntil + graceMs > lastTurnAt && starts.engaged.some((at) => at < leaseUntil);
  if (!isInGrace) return leaseUntil;
  const later = [...starts.engaged, ...starts.others].filter((at) => at >= leaseUntil);
  return Math.min(leaseUntil + outageMs, ...later);
}

/** A request by SMS waits for days, and its answer is not lost in an outage. */
function excuseRequest(board: Board, request: Request, { outageMs }: Outage): void {
  if (isLasting(request)) return;
  request.timeoutMs = Math.min(request.timeoutMs + outageMs, longestOfferMs);
  board.deadlines.set(request.deadline, request.createdAt + request.timeoutMs);
  board.changes.requests.add(request);
}
