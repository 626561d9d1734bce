import type { SiteId } from '../../../platform/ids.ts';
import { siteOf, type Board } from '../board.ts';
import { newDeadline } from './deadlines.ts';
import type { ExpiryLine, Ticket } from './state.ts';
import { newTicketLine } from './ticket-line.ts';

export function expiresAt(board: Board, { enqueuedAt, siteId }: Ticket): number {
  return enqueuedAt + siteOf(board, siteId).ticketTimeoutMs;
}

export function joinExpiry(board: Board, ticket: Ticket): void {
  if (ticket.expiry !== null) return;
  const line = lineOf(board, ticket.siteId);
  line.tickets.add(ticket);
  ticket.expiry = line;
  if (line.tickets.first() === ticket) scheduleNextExpiry(board, line);
}

export function leaveExpiry(board: Board, ticket: Ticket): void {
  const line = ticket.expiry;
  if (line === null) return;
  const wasFirst = line.tickets.first() === ticket;
  line.tickets.delete(ticket);
  ticket.expiry = null;
  if (wasFirst) scheduleNextExpiry(board, line);
}

function lineOf(board: Board, siteId: SiteId): ExpiryLine {
  const known = board.expiries.get(siteId);
  if (known !== undefined) return known;
  const line: ExpiryLine = { tickets: newTicketLine(), deadline: newDeadline('ticket', siteId) };
  board.expiries.set(siteId, line);
  return line;
}

function scheduleNextExpiry(board: Board, { tickets, deadline }: ExpiryLine): void {
  const first = tickets.first();
  board.deadlines.set(deadline, first === undefined ? null : expiresAt(board, first));
}

/** Removes the tickets that had expired by then, and returns them in order. */
export function takeExpired(board: Board, siteId: SiteId, by: number): Ticket[] {
  const line = lineOf(board, siteId);
  const expired: Ticket[] = [];
  for (const ticket of line.tickets) {
    if (expiresAt(board, ticket) > by) break;
    expired.push(ticket);
  }
  for (const ticket of expired) leaveExpiry(board, ticket);
  scheduleNextExpiry(board, line);
  return expired;
}

/** Recomputes the deadline after the ticket time-out of the site changed. */
export function resetExpiry(board: Board, siteId: SiteId): void {
  const line = board.expiries.get(siteId);
  if (line === undefined) return;
  for (const ticket of board.tickets.values()) if (ticket.siteId === siteId) joinExpiry(board, ticket);
  scheduleNextExpiry(board, line);
}
