import type { EngagementId, OperatorId, QueueId, RequestId, SiteId, TicketId, VisitorId } from '../../platform/ids.ts';
import { noChanges, unmark, type Changes } from './structures/changes.ts';
import { Deadlines } from './structures/deadlines.ts';
import { none } from './structures/short-lists.ts';
import type {
  Engagement,
  ExpiryLine,
  Operator,
  Pool,
  Queue,
  Request,
  Site,
  Ticket,
  Visitor,
} from './structures/state.ts';

/**
 * The routing state of an account: waiting tickets, present operators, offers and engagements. The rules (D1–D5) are the
 * functions in this folder that mutate the board. They read no clock and no database, and every command goes through `apply`
 * (commands.ts). The board is therefore deterministic: the same commands at the same instants produce the same board, changes
 * and events.
 *
 * After each command the board is *settled*: tickets have left the queues that became closed or unstaffed, and no ticket waits
 * while an operator could be offered it.
 */
export interface Board {
  readonly sites: Map<SiteId, Site>;
  readonly queues: Map<QueueId, Queue>;
  readonly operators: Map<OperatorId, Operator>;
  readonly visitors: Map<VisitorId, Visitor>;
  readonly tickets: Map<TicketId, Ticket>;
  readonly requests: Map<RequestId, Request>;
  readonly engagements: Map<EngagementId, Engagement>;
  readonly pools: Map<string, Pool>;
  /** Waiting tickets with at least one refusal (D4.5). */
  readonly refused: Set<Ticket>;
  /** Waiting tickets by their preferred operator (D4.3). */
  readonly preferring: Map<OperatorId, Set<Ticket>>;
  readonly expiries: Map<SiteId, ExpiryLine>;
  /** Open tickets and requests per site and visitor address: see addresses.ts. */
  readonly openByAddress: Map<string, number>;
  readonly deadlines: Deadlines;
  /** The sequence number of the newest ticket. */
  seq: number;
  /** The instant of the current command. */
  now: number;
  /** What `settle` must still process. */
  readonly dirty: {
    readonly queues: Set<Queue>;
    /** Operators who may be able to take a waiting ticket. */
    readonly operators: Set<Operator>;
    readonly tickets: Set<Ticket>;
    /** Operators who became unavailable, or whose site assignments changed. */
    readonly absent: Set<Operator>;
  };
  changes: Changes;
  /** The changes that were taken last: their objects are still marked as new. */
  taken: Changes | null;
  readonly newId: () => string;
}

export function newBoard(newId: () => string): Board {
  return {
    sites: new Map(),
    queues: new Map(),
    operators: new Map(),
    visitors: new Map(),
    tickets: new Map(),
    requests: new Map(),
    engagements: new Map(),
    pools: new Map(),
    refused: new Set(),
    preferring: new Map(),
    expiries: new Map(),
    openByAddress: new Map(),
    deadlines: new Deadlines(),
    seq: 0,
    now: 0,
    dirty: { queues: new Set(), operators: new Set(), tickets: new Set(), absent: new Set() },
    changes: noChanges(),
    taken: null,
    newId,
  };
}

/** Returns the changes since the last call. They tell new objects from others until the next call, which ends their turn. */
export function takeChanges(board: Board): Changes {
  const { changes } = board;
  if (board.taken !== null) unmark(board.taken);
  board.taken = changes;
  board.changes = noChanges();
  return changes;
}

/** The instant of the next deadline; `null` if only a command can change the board. */
export function nextDue(board: Board): number | null {
  return board.deadlines.next?.at ?? null;
}

/** The size of the board, counted in objects: a measure of its memory. */
export function weightOf(board: Board): number {
  return board.tickets.size + board.operators.size + board.queues.size + board.engagements.size + board.requests.size;
}

export function siteOf(board: Board, id: SiteId): Site {
  const site = board.sites.get(id);
  if (site === undefined) throw new Error(`the board has no site ${id}`);
  return site;
}

/** Returns the visitor, and adds them to the board if they are not on it. */
export function getOrAddVisitor(board: Board, id: VisitorId, leaseUntil: number | null): Visitor {
  const known = board.visitors.get(id);
  if (known !== undefined) return known;
  const visitor: Visitor = {
    id,
    leaseUntil,
    leaseDeadline: null,
    graceDeadline: null,
    tickets: none,
    requests: none,
    engagements: none,
  };
  board.visitors.set(id, visitor);
  return visitor;
}

/** Removes a visitor who has no ticket, request or engagement left. */
export function releaseVisitor(board: Board, visitor: Visitor): void {
  if (visitor.tickets.length + visitor.requests.length + visitor.engagements.length > 0) return;
  board.deadlines.clear(visitor.leaseDeadline);
  board.deadlines.clear(visitor.graceDeadline);
  board.visitors.delete(visitor.id);
}

/** Sorts by start, then by id: the order is the same in every process, whatever order the rows were loaded in. */
export function byAge<Item extends { readonly id: string }>(
  items: readonly Item[],
  beganAt: (item: Item) => number,
): Item[] {
  return items.toSorted((a, b) => beganAt(a) - beganAt(b) || (a.id < b.id ? -1 : 1));
}
