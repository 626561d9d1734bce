import type { Medium } from '@usher/contract/media';
import type { EndReason, FailReason, RequestState, TicketState, UnstaffedRule } from '@usher/contract/states';
import type {
  CallId,
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  SubEngagementId,
  TeamId,
  TicketId,
  VisitorId,
} from '../../../platform/ids.ts';
import type { CapacityPolicy, StatusIgnoringCapacity } from '../../../queues/status.ts';
import type { CompiledHours } from '../../../schedules/hours.ts';
import type { Deadline } from './deadlines.ts';
import type { MediaSet } from './media.ts';
import type { OrderedSet } from './ordered-set.ts';

/**
 * What stands on a board. Instants are epoch milliseconds. Things that have ended are not on it; they are told as changes
 * and forgotten.
 */

export interface Site {
  readonly id: SiteId;
  /** How long an operator, and a visitor, may think about an offer. */
  readonly reactiveMs: number;
  readonly proactiveMs: number;
  /** Whether an operator who let an offer time out becomes unavailable. */
  readonly missedMakesUnavailable: boolean;
  readonly ticketTimeoutMs: number;
  /** Open tickets, and pending requests to operators, that visitors of one address may have together. */
  readonly openPerAddress: number;
  /** Whether a ticket ends if its visitor gives no sign of life for a while: see `signOfLife` in presence.ts. */
  readonly ticketNeedsPresence: boolean;
}

/** What is configured of a queue. */
export interface QueueSettings {
  readonly id: QueueId;
  readonly siteId: SiteId;
  readonly media: MediaSet;
  /** Empty: every visitor, and every operator of the site. */
  readonly teams: readonly TeamId[];
  readonly capacityPolicy: CapacityPolicy;
  readonly whenUnstaffed: UnstaffedRule;
  readonly rankingEnabled: boolean;
  /** Ranks 1 to 9: 10 is as good as none. */
  readonly ranks: ReadonlyMap<OperatorId, number>;
  readonly affinityMs: number | null;
  readonly fallbackId: QueueId | null;
  readonly hours: CompiledHours | null;
  readonly welcomeMessage: string | null;
}

/** What is remembered of a queue besides who is in it. */
export interface QueueMemory {
  /** As the board last acted on it. */
  lastStatus: StatusIgnoringCapacity;
  /** How long the last hundred who left it for an engagement had waited, oldest first. */
  waits: number[];
  /** Milliseconds between two who leave it for an engagement while others wait, smoothed; `null` while unknown. */
  paceMs: number | null;
  /** When the last left it for an engagement while others stayed behind; `null` where nobody did. */
  leftOthersAt: number | null;
}

export interface Queue {
  changedIn: object | null;
  settings: QueueSettings;
  readonly memory: QueueMemory;
  open: boolean;
  readonly hoursDeadline: Deadline;
  /** Who staffs it. */
  pool: Pool;
  /** Those of its staff with a rank who can take something now, best first. */
  ranked: FreeOperators;
  /** How many are in it: waiting in it or under offer (D2.2). */
  visitors: number;
  /** Those who wait, in order. */
  readonly line: OrderedSet<Ticket>;
}

/** Operators who can take something now, best first. */
export interface FreeOperators {
  add(operator: Operator): void;
  delete(operator: Operator): void;
  /** The best who takes the medium and is not `spared`. */
  best(medium: Medium, excluded: ((operator: Operator) => boolean) | null): Operator | null;
}

/**
 * The operators of a site who belong to one of `teams`, and to one of `narrowedTo`; an empty list asks for nothing.
 *
 * Queues that want the same teams share a pool, so what an operator does moves it in its few pools and not in each queue
 * it serves, and an operator who becomes free finds the longest waiting at the head of a few lines.
 */
export interface Pool {
  readonly key: string;
  readonly siteId: SiteId;
  readonly teams: readonly TeamId[];
  readonly narrowedTo: readonly TeamId[];
  /** Queues whose staff it is. */
  readonly queues: Set<Queue>;
  /** How many places of tickets it serves. */
  entryCount: number;
  /** Present operators by the set of media they take. */
  readonly staff: number[];
  readonly free: FreeOperators;
  /** Tickets that may be offered to any of its operators, longest waiting first. */
  readonly waiting: Readonly<Record<Medium, OrderedSet<Ticket>>>;
}

/** What is configured of an operator, and what it last said of itself. */
export interface OperatorSettings {
  readonly id: OperatorId;
  readonly enabled: boolean;
  /** The sites it is assigned to, and its teams there. */
  readonly sites: ReadonlyMap<SiteId, ReadonlySet<TeamId>>;
  readonly maxEngagements: number;
  readonly available: boolean;
  readonly media: MediaSet;
  /** Until when that holds; `null`: until changed. */
  readonly leaseUntil: number | null;
}

export interface Operator {
  settings: OperatorSettings;
  /** Available now: enabled, said so, and the lease has not run out. */
  present: boolean;
  /** Engagements and pending requests, by what they occupy (D4.4). */
  texts: number;
  exclusives: number;
  /** When it last began an engagement; 0: never. */
  lastEngagedAt: number;
  readonly leaseDeadline: Deadline;
  readonly graceDeadline: Deadline;
  pools: Pool[];
  /** Queues in which it has a rank that counts. */
  ranked: Queue[];
  /** Whether it stands among the free of its pools. */
  free: boolean;
  /** Tickets that a queue keeps for it (D4.3), longest waiting first. */
  readonly held: OrderedSet<Ticket>;
  requests: readonly Request[];
  engagements: readonly Engagement[];
  dirtyIn: object | null;
}

/** What is written when it changes. */
interface Changing {
  /** The changes it is noted in, and those it was made in: `null` for what was stored already. */
  changedIn: object | null;
  readonly createdIn: object | null;
}

/** A ticket in one queue. */
export interface QueueEntry {
  readonly queue: Queue;
  /** Who may serve it there: the queue's staff, or those of them in the teams the ticket names. */
  readonly pool: Pool;
  readonly enteredAt: number;
  /** Kept for the operator who last engaged the visitor. */
  held: boolean;
}

export interface Ticket extends Changing {
  readonly id: TicketId;
  dirtyIn: object | null;
  state: TicketState;
  /** When it was no longer waiting or under offer, and what became of it. */
  endedAt: number | null;
  engagementId: EngagementId | null;
  /** The queue that made the match. */
  matchedBy: QueueId | null;
  /** Order of first enqueue in the account: the waiting time, without ties. */
  readonly seq: number;
  /** `transfer`: an engaged visitor is to be handed on to a queue. */
  readonly kind: 'visitor' | 'transfer';
  readonly siteId: SiteId;
  readonly visitor: Visitor;
  readonly medium: Medium;
  readonly enqueuedAt: number;
  /** What was asked for, to tell a repeated request from another. */
  readonly criteria: string;
  readonly visitorTeams: readonly TeamId[];
  /** Only operators of these teams; empty: any. */
  readonly narrowedTo: readonly TeamId[];
  /** Of a transfer: the engagement, and its operator, who must not be offered it. */
  readonly engagement: Engagement | null;
  readonly neverTo: OperatorId | null;
  /** The operator who last engaged the visitor, while queues are to wait for them. */
  preferred: OperatorId | null;
  /** Who declined or missed it, and until when they are spared. */
  refusals: Map<OperatorId, number> | null;
  entries: readonly QueueEntry[];
  request: Request | null;
  /** Where it stands to be found by operators; set while it waits. */
  inPools: readonly Pool[];
  heldBy: Operator | null;
  /** What it carries and the board does not look into: an offer of it carries the same. */
  readonly notes: RequestNotes;
  /** The address it came from, hashed; `null`: not counted by address. */
  readonly address: string | null;
  /** Whether it stands in the line of those that may expire. */
  expires: boolean;
  /** Few tickets are refused or kept for somebody: made when one is. */
  refusalDeadline: Deadline | null;
  affinityDeadline: Deadline | null;
}

/** What a request carries and the board does not look into, but for the platform: see `isLasting`. */
export interface RequestNotes {
  readonly source: string | null;
  readonly platform: string;
  readonly mediaOptions: unknown;
  readonly message: string | null;
  /** Ids of webhooks: they hear of what comes of it. */
  readonly webhooks: readonly string[];
}

/**
 * An operator's message that went to the visitor's phone, and waits for a reply for days. It lasts whatever becomes of either
 * side's presence, and occupies its operator only once it is an engagement. The view `lasting_requests` says the same in SQL.
 */
export function isLasting({ kind, notes }: Pick<Request, 'kind' | 'notes'>): boolean {
  return kind === 'direct' && notes.platform === 'sms';
}

export interface Request extends Changing {
  readonly id: RequestId;
  state: RequestState;
  failReason: FailReason | null;
  failMessage: string | null;
  endedAt: number | null;
  /** What it comes of: a ticket's turn, a direct request, or a transfer (of which a ticket may be waiting too). */
  readonly kind: 'ticket' | 'direct' | 'transfer';
  /** Who asked. Of a transfer it is the operator, even where a queue found the other one. */
  readonly origin: 'visitor' | 'operator';
  readonly siteId: SiteId;
  readonly visitor: Visitor;
  readonly operator: Operator;
  readonly medium: Medium;
  readonly queue: Queue | null;
  readonly ticket: Ticket | null;
  /** The engagement to be transferred, or the one it has become. */
  engagement: Engagement | null;
  readonly createdAt: number;
  readonly timeoutMs: number;
  readonly notes: RequestNotes;
  /** Of a visitor's request to an operator: the address it came from, hashed; `null`: not counted by address. */
  readonly address: string | null;
  readonly deadline: Deadline;
}

/** D5.3. */
export interface Engagement extends Changing {
  readonly id: EngagementId;
  endedAt: number | null;
  endReason: EndReason | null;
  readonly requestId: RequestId;
  readonly ticketId: TicketId | null;
  readonly queueId: QueueId | null;
  readonly visitor: Visitor;
  readonly startedAt: number;
  /** The site on which the visitor asked: by fallback another may serve it. */
  readonly askedOn: SiteId;
  siteId: SiteId;
  operator: Operator;
  medium: Medium;
  subEngagementId: SubEngagementId;
  subStartedAt: number;
  /** The highest medium of the current sub-engagement. */
  highestMedium: Medium;
  /** The operator's teams on the site when the current sub-engagement began; `null`: that was not kept. */
  operatorTeams: readonly TeamId[] | null;
  /** It began with a reply from the visitor's phone: whether the visitor is on the site says nothing about it. */
  readonly byPhone: boolean;
  /** Webhooks that came with what it began with, and with its transfers. */
  subscribers: readonly string[];
  /** A transfer that is under way. */
  transfer: Request | Ticket | null;
  /** The call that is going on; `null` while the medium is text or phone. */
  call: Call | null;
}

/** Audio or video between the sides of an engagement: from when it became their medium until it is no longer. */
export interface Call extends Changing {
  readonly id: CallId;
  readonly engagementId: EngagementId;
  readonly subEngagementId: SubEngagementId;
  readonly startedAt: number;
  endedAt: number | null;
  /** Who hung up; `null`: the call ended with the engagement, or with the operator's part in it. */
  endedBy: 'visitor' | 'operator' | null;
}

/** A visitor with something on the board. There may be a hundred thousand of them, so they are kept small. */
export interface Visitor {
  readonly id: VisitorId;
  /** Until when it said it would be there; `null`: it never said. */
  leaseUntil: number | null;
  /** Made when it says something. */
  leaseDeadline: Deadline | null;
  graceDeadline: Deadline | null;
  tickets: readonly Ticket[];
  requests: readonly Request[];
  engagements: readonly Engagement[];
}

/**
 * Tickets of a site in the order in which they expire. All of a site's have the same time (D3.6), so it is the order in
 * which they came, and one deadline, that of the first, stands for all of them: most tickets never get to be the first.
 */
export interface ExpiryLine {
  tickets: Ticket[];
  /** Those before it have ended. */
  head: number;
  /** How many of them have not. */
  active: number;
  readonly deadline: Deadline;
}
