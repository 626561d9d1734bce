import type { SiteId } from '../../../platform/ids.ts';
import { siteOf, type Board } from '../board.ts';
import { newDeadline } from './deadlines.ts';
import type { ExpiryLine, Ticket } from './state.ts';

/** A line drops its ended tickets when they outnumber the active ones by more than this. */
const maxEndedSurplus = 1_000;

export function expiresAt(board: Board, { enqueuedAt, siteId }: Ticket): number {
  return enqueuedAt + siteOf(board, siteId).ticketTimeoutMs;
}

export function joinExpiry(board: Board, ticket: Ticket): void {
  if (ticket.expires) return;
  const line = lineOf(board, ticket.siteId);
  let at = line.tickets.length;
  // A new ticket belongs at the end. One that was reloaded after a change by another process belongs further ahead.
  while (at > line.head && (line.tickets[at - 1]?.seq ?? 0) > ticket.seq) at -= 1;
  if (at === line.tickets.length) line.tickets.push(ticket);
  else line.tickets.splice(at, 0, ticket);
  line.active += 1;
  ticket.expires = true;
  if (at === line.head) scheduleNextExpiry(board, line);
}

export function leaveExpiry(board: Board, ticket: Ticket): void {
  if (!ticket.expires) return;
  const line = lineOf(board, ticket.siteId);
  ticket.expires = false;
  line.active -= 1;
  if (line.tickets[line.head] === ticket) scheduleNextExpiry(board, line);
  if (line.tickets.length - line.active > line.active + maxEndedSurplus) {
    line.tickets = line.tickets.filter((each) => each.expires);
    line.head = 0;
  }
}

function lineOf(board: Board, siteId: SiteId): ExpiryLine {
  const known = board.expiries.get(siteId);
  if (known !== undefined) return known;
  const line: ExpiryLine = { tickets: [], head: 0, active: 0, deadline: newDeadline('ticket', siteId) };
  board.expiries.set(siteId, line);
  return line;
}

function scheduleNextExpiry(board: Board, line: ExpiryLine): void {
  let first = line.tickets[line.head];
  while (first !== undefined && !first.expires) {
    line.head += 1;
    first = line.tickets[line.head];
  }
  board.deadlines.set(line.deadline, first === undefined ? null : expiresAt(board, first));
}

/** Removes the tickets that had expired by then, and returns them in order. */
export function takeExpired(board: Board, siteId: SiteId, by: number): Ticket[] {
  const line = lineOf(board, siteId);
  const expired: Ticket[] = [];
  for (let index = line.head; index < line.tickets.length; index += 1) {
    const ticket = line.tickets[index];
    if (ticket === undefined || !ticket.expires) continue;
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
