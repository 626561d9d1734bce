import type { EngagementId, OperatorId, QueueId, RequestId, SiteId, TicketId, VisitorId } from '../../platform/ids.ts';
import { noChanges, type Changes } from './structures/changes.ts';
import { Deadlines } from './structures/deadlines.ts';
import { DirtyList } from './structures/dirty-list.ts';
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
 * The routing state of an account: who waits, who is there, what is offered to whom, who is engaged with whom. The rules
 * (D1–D5) are functions on it in this folder. They read no clock and no database, and `apply` (commands.ts) is the only way
 * in: the same commands at the same instants give the same board, changes and events.
 *
 * After each command the board is *settled*: queues that turned closed or unstaffed have been acted on, and no ticket waits
 * beside an operator who could be offered it.
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
  /** Waiting tickets that somebody has refused. */
  readonly refused: Set<Ticket>;
  /** Waiting tickets by the operator they would rather have (D4.3). */
  readonly preferring: Map<OperatorId, Set<Ticket>>;
  readonly expiries: Map<SiteId, ExpiryLine>;
  /** How much visitors of one address have open on a site: see addresses.ts. */
  readonly openByAddress: Map<string, number>;
  readonly deadlines: Deadlines;
  /** The number of the last ticket. */
  seq: number;
  /** The instant of the command under way. */
  now: number;
  /** What has to be looked at before the board is settled again. */
  readonly dirty: {
    readonly queues: Set<Queue>;
    /** Operators who can take something now. */
    readonly operators: DirtyList<Operator>;
    readonly tickets: DirtyList<Ticket>;
    /** Operators who are not available any more, or whose sites are others. */
    readonly absent: Set<Operator>;
  };
  changes: Changes;
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
    dirty: { queues: new Set(), operators: new DirtyList(), tickets: new DirtyList(), absent: new Set() },
    changes: noChanges(),
    newId,
  };
}

/** What has changed since this was last asked. */
export function takeChanges(board: Board): Changes {
  const { changes } = board;
  board.changes = noChanges();
  return changes;
}

/** When something falls due next; `null`: only what is asked of it can move the board. */
export function nextDue(board: Board): number | null {
  return board.deadlines.next?.at ?? null;
}

/** How much memory it takes, counted in things. */
export function weightOf(board: Board): number {
  return board.tickets.size + board.operators.size + board.queues.size + board.engagements.size + board.requests.size;
}

export function siteOf(board: Board, id: SiteId): Site {
  const site = board.sites.get(id);
  if (site === undefined) throw new Error(`the board has no site ${id}`);
  return site;
}

/** The visitor, brought onto the board where it is not. */
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

/** Lets go of a visitor who has nothing on the board any more. */
export function releaseVisitor(board: Board, visitor: Visitor): void {
  if (visitor.tickets.length + visitor.requests.length + visitor.engagements.length > 0) return;
  board.deadlines.clear(visitor.leaseDeadline);
  board.deadlines.clear(visitor.graceDeadline);
  board.visitors.delete(visitor.id);
}

/** A few things in the order they began: the same in every process, in whichever order it came to know of them. */
export function byAge<Thing extends { readonly id: string }>(
  things: Iterable<Thing>,
  beganAt: (thing: Thing) => number,
): Thing[] {
  return [...things].toSorted((a, b) => beganAt(a) - beganAt(b) || (a.id < b.id ? -1 : 1));
}

/** Short lists are made anew with every change: most are empty, and an array that has once been added to is a large one. */
export const none: readonly never[] = [];

export function including<Item>(list: readonly Item[], item: Item): readonly Item[] {
  return list.length === 0 ? [item] : [...list, item];
}

export function without<Item>(list: readonly Item[], item: Item): readonly Item[] {
  const left = list.filter((each) => each !== item);
  return left.length === 0 ? none : left;
}
