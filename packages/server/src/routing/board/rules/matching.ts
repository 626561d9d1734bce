import { lastRank } from '@usher/contract/limits';
import { media } from '@usher/contract/media';
import type { Board } from '../board.ts';
import { canTake, compareOperators, takeableMedia } from '../structures/free-operators.ts';
import { hasIndex, takes } from '../structures/media.ts';
import { OrderedSet } from '../structures/ordered-set.ts';
import { belongs, staffFor } from '../structures/pools.ts';
import { makeOffer } from './requests.ts';
import type { Operator, QueueEntry, Pool, Ticket } from '../structures/state.ts';
import type { TicketLine } from '../structures/ticket-line.ts';

/**
 * D4: while a waiting ticket can be offered to an operator, offers the oldest such ticket to the best operator for it. Before
 * the dirty tickets and operators changed there was no match, so every match involves one of them.
 */
export function match(board: Board): void {
  const { tickets, operators } = board.dirty;
  if (tickets.size + operators.size === 1) matchOne(board);
  else matchAll(board);
  tickets.clear();
  operators.clear();
}

/** The common case: one ticket was added, or one operator became free. */
function matchOne(board: Board): void {
  const ticket = firstOf(board.dirty.tickets);
  if (ticket !== undefined) return offerToBest(board, ticket);
  const operator = firstOf(board.dirty.operators);
  if (operator === undefined) return undefined;
  for (let oldest = oldestFor(board, operator); oldest !== undefined; oldest = oldestFor(board, operator))
    offerToBest(board, oldest);
  return undefined;
}

function matchAll(board: Board): void {
  const tickets = [...board.dirty.tickets].toSorted((a, b) => a.seq - b.seq);
  const claims = new OrderedSet<Claim>(compareClaims);
  for (const operator of board.dirty.operators) claim(board, claims, operator);
  let index = 0;
  for (;;) {
    const ticket = tickets[index];
    const first = claims.first();
    if (ticket !== undefined && (first === undefined || ticket.seq <= first.ticket.seq)) {
      index += 1;
      offerToBest(board, ticket);
    } else if (first === undefined) {
      break;
    } else {
      claims.delete(first);
      // Another operator may have taken that ticket. The new claim of this operator can only be on a later ticket.
      if (oldestFor(board, first.operator) === first.ticket) offerToBest(board, first.ticket);
      claim(board, claims, first.operator);
    }
  }
}

/** The oldest ticket that an operator could be offered. */
interface Claim {
  readonly ticket: Ticket;
  readonly operator: Operator;
}

function compareClaims(a: Claim, b: Claim): number {
  if (a.ticket !== b.ticket) return a.ticket.seq - b.ticket.seq;
  if (a.operator === b.operator) return 0;
  return a.operator.settings.id < b.operator.settings.id ? -1 : 1;
}

function claim(board: Board, claims: OrderedSet<Claim>, operator: Operator): void {
  const ticket = oldestFor(board, operator);
  if (ticket !== undefined) claims.add({ ticket, operator });
}

function offerToBest(board: Board, ticket: Ticket): void {
  if (ticket.state !== 'waiting') return;
  const choice = bestFor(board, ticket);
  if (choice !== null) makeOffer(board, ticket, choice.entry, choice.operator);
}

/** D4.1: the oldest waiting ticket that the operator could be offered now. */
function oldestFor(board: Board, operator: Operator): Ticket | undefined {
  if (!operator.free) return undefined;
  let oldest = operator.held === null ? undefined : oldestHeldFor(board, operator, operator.held);
  const takeable = takeableMedia(operator);
  for (const { waiting } of operator.pools) {
    const wanted = takeable & waiting.media;
    if (wanted === 0) continue;
    for (let medium = 0; medium < media.length; medium += 1) {
      if (!hasIndex(wanted, medium)) continue;
      const head = headFor(board, waiting.line(medium), operator);
      if (head !== undefined && (oldest === undefined || head.seq < oldest.seq)) oldest = head;
    }
  }
  return oldest;
}

function oldestHeldFor(board: Board, operator: Operator, held: TicketLine<Ticket>): Ticket | undefined {
  return held.firstWhere((ticket) => canTake(operator, ticket.medium) && !isExcluded(board, ticket, operator));
}

function headFor(board: Board, line: TicketLine<Ticket>, operator: Operator): Ticket | undefined {
  const first = line.first();
  return first !== undefined && isExcluded(board, first, operator) ? firstNotExcluded(board, line, operator) : first;
}

function firstNotExcluded(board: Board, line: TicketLine<Ticket>, operator: Operator): Ticket | undefined {
  return line.firstWhere((ticket) => !isExcluded(board, ticket, operator));
}

interface Choice {
  readonly operator: Operator;
  readonly entry: QueueEntry;
  readonly rank: number;
}

/** D4.2: the best operator who could be offered the ticket now, and the queue that offers it. */
function bestFor(board: Board, ticket: Ticket): Choice | null {
  let best: Choice | null = null;
  for (const entry of ticket.entries) {
    const operator = entry.held ? heldOperator(board, ticket, entry) : bestFreeOperator(board, ticket, entry);
    if (operator === null) continue;
    const choice = { operator, entry, rank: rankIn(entry, operator) };
    if (best === null || compareChoices(choice, best) < 0) best = choice;
  }
  return best;
}

function compareChoices(a: Choice, b: Choice): number {
  return a.rank - b.rank || (a.operator === b.operator ? 0 : compareOperators(a.operator, b.operator));
}

function rankIn({ queue: { settings } }: QueueEntry, operator: Operator): number {
  return settings.rankingEnabled ? (settings.ranks.get(operator.settings.id) ?? lastRank) : lastRank;
}

/** D4.3: only the operator that the ticket is held for. */
function heldOperator(board: Board, ticket: Ticket, { pool }: QueueEntry): Operator | null {
  const operator = ticket.heldBy;
  if (operator === null || !operator.free || !belongs(pool, operator.settings)) return null;
  return canTake(operator, ticket.medium) && !isExcluded(board, ticket, operator) ? operator : null;
}

function bestFreeOperator(board: Board, ticket: Ticket, entry: QueueEntry): Operator | null {
  const hasExclusions = ticket.excludedOperator !== null || ticket.refusals !== null;
  if (!hasExclusions && !entry.queue.settings.rankingEnabled) return entry.pool.free.best(ticket.medium, null);
  return bestRankedOrFree(board, ticket, entry);
}

/** Most tickets have no exclusions and most queues no ranking, so this function alone creates closures. */
function bestRankedOrFree(board: Board, ticket: Ticket, { queue, pool }: QueueEntry): Operator | null {
  const hasExclusions = ticket.excludedOperator !== null || ticket.refusals !== null;
  const excluded = hasExclusions ? (operator: Operator) => isExcluded(board, ticket, operator) : null;
  if (queue.settings.rankingEnabled) {
    const isOut = (operator: Operator): boolean => !operator.pools.includes(pool) || excluded?.(operator) === true;
    const ranked = queue.ranked.best(ticket.medium, ticket.requiredTeams.length > 0 ? isOut : excluded);
    if (ranked !== null) return ranked;
  }
  return pool.free.best(ticket.medium, excluded);
}

/** D4.5: an operator who refused the ticket is not offered it again for now, unless nobody else can take it. */
function isExcluded(board: Board, ticket: Ticket, operator: Operator): boolean {
  const { id } = operator.settings;
  if (ticket.excludedOperator === id) return true;
  return ticket.refusals !== null && ticket.refusals.has(id) && hasOtherCandidates(board, ticket);
}

/** Whether a present operator, busy or not, could take the ticket and has not refused it. */
function hasOtherCandidates(board: Board, ticket: Ticket): boolean {
  return ticket.entries.some((entry) => {
    if (entry.held) return ticket.heldBy !== null && isCandidate(ticket.heldBy, ticket, entry.pool);
    const refused = [...(ticket.refusals?.keys() ?? [])].filter((id) => {
      const operator = board.operators.get(id);
      return id !== ticket.excludedOperator && operator !== undefined && isCandidate(operator, ticket, entry.pool);
    });
    const never = ticket.excludedOperator === null ? undefined : board.operators.get(ticket.excludedOperator);
    const excludedCount = refused.length + Number(never !== undefined && isCandidate(never, ticket, entry.pool));
    return staffFor(entry.pool, ticket.medium) > excludedCount;
  });
}

function isCandidate(operator: Operator, { medium }: Ticket, pool: Pool): boolean {
  return operator.present && takes(operator.settings.media, medium) && belongs(pool, operator.settings);
}

function firstOf<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item;
  return undefined;
}
