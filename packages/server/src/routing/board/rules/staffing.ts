import { lastRank } from '@usher/contract/limits';
import type { OperatorId } from '../../../platform/ids.ts';
import { isOpen, nextChange } from '../../../schedules/hours.ts';
import { none, type Board } from '../board.ts';
import { newDeadline } from '../structures/deadlines.ts';
import { canTakeAnything, compareOperators, FreeOperatorSets } from '../structures/free-operators.ts';
import { enqueueInLine, removeFromLine } from '../structures/lines.ts';
import { OrderedSet } from '../structures/ordered-set.ts';
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

/** How long an engagement outlives the presence of one of its sides (D5.3). */
export const graceMs = 30_000;

/** Changes what an operator's place among the free follows from. */
export function reorderOperator(board: Board, operator: Operator, change: () => void): void {
  if (operator.free) {
    for (const pool of operator.pools) pool.free.delete(operator);
    for (const queue of operator.ranked) queue.ranked.delete(operator);
    operator.free = false;
  }
  change();
  if (!operator.present || !canTakeAnything(operator)) return;
  for (const pool of operator.pools) pool.free.add(operator);
  for (const queue of operator.ranked) queue.ranked.add(operator);
  operator.free = true;
  board.dirty.operators.add(operator);
}

/** Changes what decides whether and where an operator is staff. */
function updateStaffing(board: Board, operator: Operator, change: () => void): void {
  reorderOperator(board, operator, () => {
    if (operator.present) for (const pool of operator.pools) leaveStaff(board, pool, operator);
    change();
    if (operator.present) for (const pool of operator.pools) joinStaff(board, pool, operator);
  });
}

function joinStaff(board: Board, pool: Pool, operator: Operator): void {
  countStaff(pool, operator, 1);
  if (pool.staff[operator.settings.media] === 1) for (const queue of pool.queues) board.dirty.queues.add(queue);
}

function leaveStaff(board: Board, pool: Pool, operator: Operator): void {
  countStaff(pool, operator, -1);
  if (pool.staff[operator.settings.media] === 0) for (const queue of pool.queues) board.dirty.queues.add(queue);
  // Whoever refused one of these may now be the only one left to ask (D4.5).
  for (const ticket of board.refused)
    if (ticket.entries.some((entry) => entry.pool === pool)) board.dirty.tickets.add(ticket);
}

/**
 * Marks the operator for comparison with their presence interval. Called before the lease is changed, as the first mark in a turn
 * remembers when the lease before it had ended.
 */
export function noteState(board: Board, operator: Operator): void {
  const { states } = board.changes;
  const { leaseUntil } = operator.settings;
  if (!states.has(operator)) states.set(operator, leaseUntil !== null && leaseUntil <= board.now ? leaseUntil : null);
}

/** Whether the operator is available now; looks at its lease and sets the clock by it. */
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

/** As configured: new on the board, or instead of what was known. */
export function putOperator(board: Board, settings: OperatorSettings, lastEngagedAt: number): Operator {
  const operator = board.operators.get(settings.id) ?? newOperator(settings);
  applySettings(board, operator, settings);
  reorderOperator(board, operator, () => {
    operator.lastEngagedAt = Math.max(operator.lastEngagedAt, lastEngagedAt);
  });
  moveTicketsPreferring(board, settings.id);
  return operator;
}

/** Gives an operator other settings, and the places that follow from them. */
export function applySettings(board: Board, operator: Operator, settings: OperatorSettings): void {
  updateStaffing(board, operator, () => {
    const moved = operator.settings.sites !== settings.sites || !board.operators.has(settings.id);
    operator.settings = settings;
    operator.present = false;
    board.operators.set(settings.id, operator);
    if (!moved) return;
    assignPools(board, operator);
    // It may have been asked something on a site that it has left.
    board.dirty.absent.add(operator);
  });
  setPresent(board, operator);
}

function assignPools(board: Board, operator: Operator): void {
  operator.pools = [...board.pools.values()].filter((pool) => belongs(pool, operator.settings));
  operator.ranked = [...board.queues.values()].filter((queue) => ranks(queue, operator));
}

function ranks({ settings, pool }: Queue, { settings: { id }, pools }: Operator): boolean {
  return settings.rankingEnabled && settings.ranks.has(id) && pools.includes(pool);
}

function newOperator(settings: OperatorSettings): Operator {
  return {
    settings,
    present: false,
    texts: 0,
    exclusives: 0,
    lastEngagedAt: 0,
    leaseDeadline: newDeadline('operator_lease', settings.id),
    graceDeadline: newDeadline('operator_grace', settings.id),
    pools: [],
    ranked: [],
    free: false,
    held: new OrderedSet((a, b) => a.seq - b.seq),
    requests: none,
    engagements: none,
    dirtyIn: null,
  };
}

/** One that is no longer the account's to route to. Nothing of it may be on the board any more. */
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

/** As configured: new on the board, or instead of what was known. */
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
    changedIn: null,
    line: new OrderedSet((a, b) => a.seq - b.seq),
  };
  board.queues.set(settings.id, queue);
  return queue;
}

function rebuildRanking(board: Board, queue: Queue): void {
  const { settings } = queue;
  const rank = (operator: Operator): number => settings.ranks.get(operator.settings.id) ?? lastRank;
  queue.ranked = new FreeOperatorSets((a, b) => rank(a) - rank(b) || compareOperators(a, b));
  for (const operator of board.operators.values()) {
    const listed = operator.ranked.indexOf(queue);
    if (listed !== -1) operator.ranked.splice(listed, 1);
    if (!ranks(queue, operator)) continue;
    operator.ranked.push(queue);
    if (operator.free) queue.ranked.add(operator);
  }
}

/** The queue's staff may be another now: so are those who may serve a ticket in it. */
function updatePool(board: Board, queue: Queue, ticket: Ticket): void {
  ticket.entries = ticket.entries.map((entry) => {
    if (entry.queue !== queue) return entry;
    const pool = poolForTicket(board, queue, ticket.narrowedTo);
    entry.pool.entryCount -= 1;
    pool.entryCount += 1;
    return { ...entry, pool };
  });
}

/** Looks at its hours and sets the clock by them. */
export function setOpen(board: Board, queue: Queue): void {
  const { hours } = queue.settings;
  queue.open = hours === null || isOpen(hours, board.now);
  board.deadlines.set(queue.hoursDeadline, hours === null ? null : nextChange(hours, board.now));
  board.dirty.queues.add(queue);
}

/** One that was deleted: nobody is in it. */
export function dropQueue(board: Board, queue: Queue): void {
  board.deadlines.clear(queue.hoursDeadline);
  queue.pool.queues.delete(queue);
  for (const operator of board.operators.values()) operator.ranked = operator.ranked.filter((each) => each !== queue);
  board.queues.delete(queue.settings.id);
  board.dirty.queues.delete(queue);
}

/** Of a copy: who stands anew is put into the set again, and a walk over the set itself would never end. */
function moveTicketsPreferring(board: Board, id: OperatorId): void {
  for (const ticket of Array.from(board.preferring.get(id) ?? [])) moveInLine(board, ticket);
}

/** What it waits for may have changed. */
export function moveInLine(board: Board, ticket: Ticket): void {
  if (ticket.state !== 'waiting') return;
  removeFromLine(board, ticket);
  enqueueInLine(board, ticket);
}
