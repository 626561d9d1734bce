import { lastRank } from '@usher/contract/limits';
import type { OperatorId } from '../../../platform/ids.ts';
import { isOpen, nextChange } from '../../../schedules/hours.ts';
import type { Board } from '../board.ts';
import { including, none, without } from '../structures/short-lists.ts';
import { newOperator } from '../structures/new-operator.ts';
import { newDeadline } from '../structures/deadlines.ts';
import { compareOperators, FreeOperatorSets, takeableMedia } from '../structures/free-operators.ts';
import { enqueueInLine, removeFromLine } from '../structures/lines.ts';
import { belongs, countStaff } from '../structures/pools.ts';
import { getOrAddPool, poolForTicket } from '../structures/board-pools.ts';
import type {
  Operator,
  OperatorSettings,
  Pool,
  Queue,
  QueueMemory,
  QueueSettings,
  Ticket,
} from '../structures/state.ts';
import { newTicketLine } from '../structures/ticket-line.ts';

/** D5.3: how long an engagement outlives the presence of one of its sides. */
export const graceMs = 30_000;

/** Removes an operator from the free lists, which must be done before their load, presence or idle time changes. */
export function leaveFreeLists(operator: Operator): void {
  if (!operator.free) return;
  for (const pool of operator.pools) pool.free.delete(operator);
  for (const queue of operator.ranked) queue.ranked.delete(operator);
  operator.free = false;
}

/** Adds an operator with free capacity to the free lists again, after the change. */
export function joinFreeLists(board: Board, operator: Operator): void {
  if (!operator.present || takeableMedia(operator) === 0) return;
  for (const pool of operator.pools) pool.free.add(operator);
  for (const queue of operator.ranked) queue.ranked.add(operator);
  operator.free = true;
  board.dirty.operators.add(operator);
}

/** Applies a change of an operator's presence, media or pools, and updates the staff counts. */
function updateStaffing(board: Board, operator: Operator, change: () => void): void {
  leaveFreeLists(operator);
  if (operator.present) for (const pool of operator.pools) leaveStaff(board, pool, operator);
  change();
  if (operator.present) for (const pool of operator.pools) joinStaff(board, pool, operator);
  joinFreeLists(board, operator);
}

function joinStaff(board: Board, pool: Pool, operator: Operator): void {
  countStaff(pool, operator, 1);
  if (pool.staff[operator.settings.media] === 1) for (const queue of pool.queues) board.dirty.queues.add(queue);
}

function leaveStaff(board: Board, pool: Pool, operator: Operator): void {
  countStaff(pool, operator, -1);
  if (pool.staff[operator.settings.media] === 0) for (const queue of pool.queues) board.dirty.queues.add(queue);
  // An operator who refused one of these tickets may now be the only one left who can take it (D4.5).
  for (const ticket of board.refused)
    if (ticket.entries.some((entry) => entry.pool === pool)) board.dirty.tickets.add(ticket);
}

/**
 * Marks the operator for comparison with their presence interval. Must be called before the lease changes, because the first mark
 * in a turn records when the previous lease had ended.
 */
export function noteState(board: Board, operator: Operator): void {
  const { states } = board.changes;
  const { leaseUntil } = operator.settings;
  if (!states.has(operator)) states.set(operator, leaseUntil !== null && leaseUntil <= board.now ? leaseUntil : null);
}

/** Re-evaluates whether the operator is available now, and sets the deadlines of their lease. */
export function setPresent(board: Board, operator: Operator): void {
  const { enabled, available, leaseUntil } = operator.settings;
  const holds = leaseUntil === null || leaseUntil > board.now;
  board.deadlines.set(operator.leaseDeadline, holds ? leaseUntil : null);
  board.deadlines.set(operator.graceDeadline, leaseUntil === null ? null : leaseUntil + graceMs);
  const present = enabled && available && holds;
  if (!present) board.dirty.absent.add(operator);
  if (present === operator.present) return;
  updateStaffing(board, operator, () => {
    operator.present = present;
  });
}

/** Adds an operator with these settings, or replaces the settings of a known one. */
export function putOperator(board: Board, settings: OperatorSettings, lastEngagedAt: number): Operator {
  const operator = board.operators.get(settings.id) ?? newOperator(settings);
  applySettings(board, operator, settings);
  noteEngaged(board, operator, Math.max(operator.lastEngagedAt, lastEngagedAt));
  moveTicketsPreferring(board, settings.id);
  return operator;
}

/** D4.2: records the start of the operator's latest engagement, and re-sorts them in the free lists. */
export function noteEngaged(board: Board, operator: Operator, at: number): void {
  leaveFreeLists(operator);
  operator.lastEngagedAt = at;
  joinFreeLists(board, operator);
}

/** Replaces the settings of an operator, and updates their pools and lists. */
export function applySettings(board: Board, operator: Operator, settings: OperatorSettings): void {
  updateStaffing(board, operator, () => {
    const moved = operator.settings.sites !== settings.sites || !board.operators.has(settings.id);
    operator.settings = settings;
    operator.present = false;
    board.operators.set(settings.id, operator);
    if (!moved) return;
    assignPools(board, operator);
    // There may be requests to the operator on a site they were removed from.
    board.dirty.absent.add(operator);
  });
  setPresent(board, operator);
}

function assignPools(board: Board, operator: Operator): void {
  operator.teams = null;
  operator.pools = [...board.pools.values()].filter((pool) => belongs(pool, operator.settings));
  operator.ranked = none;
  for (const queue of board.queues.values())
    if (ranks(queue, operator)) operator.ranked = including(operator.ranked, queue);
}

function ranks({ settings, pool }: Queue, { settings: { id }, pools }: Operator): boolean {
  return settings.rankingEnabled && settings.ranks.has(id) && pools.includes(pool);
}

/** Removes a deleted operator, who must have no request or engagement on the board. */
export function dropOperator(board: Board, id: OperatorId): void {
  const operator = board.operators.get(id);
  if (operator === undefined) return;
  updateStaffing(board, operator, () => {
    operator.present = false;
  });
  board.deadlines.clear(operator.leaseDeadline);
  board.deadlines.clear(operator.graceDeadline);
  board.operators.delete(id);
  board.dirty.operators.delete(operator);
  moveTicketsPreferring(board, id);
}

/** Adds a queue with these settings, or replaces the settings of a known one. */
export function putQueue(board: Board, settings: QueueSettings, memory: QueueMemory): Queue {
  const known = board.queues.get(settings.id);
  const pool = getOrAddPool(board, settings.siteId, settings.teams, []);
  const queue = known ?? newQueue(board, settings, memory, pool);
  const same = queue.pool === pool && queue.settings.affinityMs === settings.affinityMs;
  const members = same ? [] : [...board.tickets.values()].filter((ticket) => isIn(ticket, queue));
  const waiting = members.filter((ticket) => ticket.state === 'waiting');
  for (const ticket of waiting) removeFromLine(board, ticket);
  queue.settings = settings;
  Object.assign(queue.memory, memory);
  queue.pool.queues.delete(queue);
  pool.queues.add(queue);
  queue.pool = pool;
  rebuildRanking(board, queue);
  for (const ticket of members) updatePool(board, queue, ticket);
  for (const ticket of waiting) enqueueInLine(board, ticket);
  setOpen(board, queue);
  board.dirty.queues.add(queue);
  return queue;
}

function isIn({ entries }: Ticket, queue: Queue): boolean {
  return entries.some((entry) => entry.queue === queue);
}

function newQueue(board: Board, settings: QueueSettings, memory: QueueMemory, pool: Pool): Queue {
  const queue: Queue = {
    settings,
    memory: { ...memory },
    open: true,
    hoursDeadline: newDeadline('hours', settings.id),
    pool,
    ranked: new FreeOperatorSets(compareOperators),
    visitors: 0,
    line: newTicketLine(),
    criteria: {},
  };
  board.queues.set(settings.id, queue);
  return queue;
}

function rebuildRanking(board: Board, queue: Queue): void {
  const { settings } = queue;
  const rank = (operator: Operator): number => settings.ranks.get(operator.settings.id) ?? lastRank;
  queue.ranked = new FreeOperatorSets((a, b) => rank(a) - rank(b) || compareOperators(a, b));
  for (const operator of board.operators.values()) {
    operator.ranked = without(operator.ranked, queue);
    if (!ranks(queue, operator)) continue;
    operator.ranked = including(operator.ranked, queue);
    if (operator.free) queue.ranked.add(operator);
  }
}

/** Updates the pool of a ticket's entry after the pool of the queue changed. */
function updatePool(board: Board, queue: Queue, ticket: Ticket): void {
  ticket.entries = ticket.entries.map((entry) => {
    if (entry.queue !== queue) return entry;
    const pool = poolForTicket(board, queue, ticket.requiredTeams);
    entry.pool.entryCount -= 1;
    pool.entryCount += 1;
    return { ...entry, pool };
  });
}

/** Re-evaluates the hours of a queue, and sets the deadline of their next change. */
export function setOpen(board: Board, queue: Queue): void {
  const { hours } = queue.settings;
  queue.open = hours === null || isOpen(hours, board.now);
  board.deadlines.set(queue.hoursDeadline, hours === null ? null : nextChange(hours, board.now));
  board.dirty.queues.add(queue);
}

/** Removes a deleted queue, which must be empty. */
export function dropQueue(board: Board, queue: Queue): void {
  board.deadlines.clear(queue.hoursDeadline);
  queue.pool.queues.delete(queue);
  for (const operator of board.operators.values()) operator.ranked = without(operator.ranked, queue);
  board.queues.delete(queue.settings.id);
  board.dirty.queues.delete(queue);
}

/** Iterates over a copy, because each moved ticket is re-added to the set. */
function moveTicketsPreferring(board: Board, id: OperatorId): void {
  for (const ticket of Array.from(board.preferring.get(id) ?? [])) moveInLine(board, ticket);
}

/** Re-adds a waiting ticket to its lines after its hold or pools may have changed. */
export function moveInLine(board: Board, ticket: Ticket): void {
  if (ticket.state !== 'waiting') return;
  removeFromLine(board, ticket);
  enqueueInLine(board, ticket);
}
