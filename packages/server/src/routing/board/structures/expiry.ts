import type { SiteId } from '../../../platform/ids.ts';
import { siteOf, type Board } from '../board.ts';
import { newDeadline } from './deadlines.ts';
import type { ExpiryLine, Ticket } from './state.ts';

/** Ended tickets are let go of when there are more of them in a line than others, and more than these. */
const mostEnded = 1_000;

export function expiresAt(board: Board, { enqueuedAt, siteId }: Ticket): number {
  return enqueuedAt + siteOf(board, siteId).ticketTimeoutMs;
}

export function joinExpiry(board: Board, ticket: Ticket): void {
  if (ticket.expires) return;
  const line = lineOf(board, ticket.siteId);
  let at = line.tickets.length;
  // It came last, unless it was read again from what another process has written.
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
  if (line.tickets.length - line.active > line.active + mostEnded) {
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

/** Those whose time was over by then, in order; they expire no more. */
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

/** The site's time is another now. */
export function resetExpiry(board: Board, siteId: SiteId): void {
  const line = board.expiries.get(siteId);
  if (line === undefined) return;
  for (const ticket of board.tickets.values()) if (ticket.siteId === siteId) joinExpiry(board, ticket);
  scheduleNextExpiry(board, line);
}
