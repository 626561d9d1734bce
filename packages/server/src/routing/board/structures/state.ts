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
import { none } from './short-lists.ts';
import type { TicketLine } from './ticket-line.ts';
import type { WaitingTickets } from './waiting-tickets.ts';

/**
 * The types of the board's state. Instants are epoch milliseconds. A ticket, request or engagement that ends is reported in
 * the changes and removed from the board.
 */

export interface Site {
  readonly id: SiteId;
  /** How long a request to an operator (`reactive`) or to a visitor (`proactive`) waits for an answer (D4.5). */
  readonly reactiveMs: number;
  readonly proactiveMs: number;
  /** Whether an operator whose offer timed out becomes unavailable (D4.5). */
  readonly missedMakesUnavailable: boolean;
  /** Whether an engagement may become a call while its operator has other engagements (D4.4). */
  readonly callsBesideChats: boolean;
  readonly ticketTimeoutMs: number;
  /** The limit on open tickets and pending requests to operators of all visitors of one address. */
  readonly openPerAddress: number;
  /** Whether a ticket ends when its visitor does not renew their presence: see `startInitialLease` in presence.ts. */
  readonly ticketNeedsPresence: boolean;
}

/** The configuration of a queue. */
export interface QueueSettings {
  readonly id: QueueId;
  readonly siteId: SiteId;
  readonly media: MediaSet;
  /** Empty means no restriction: every visitor and every operator of the site. */
  readonly teams: readonly TeamId[];
  readonly capacityPolicy: CapacityPolicy;
  readonly whenUnstaffed: UnstaffedRule;
  readonly rankingEnabled: boolean;
  /** Ranks 1 to 9. Rank 10 counts as unranked and is left out. */
  readonly ranks: ReadonlyMap<OperatorId, number>;
  readonly affinityMs: number | null;
  readonly fallbackId: QueueId | null;
  readonly hours: CompiledHours | null;
  readonly welcomeMessage: string | null;
}

/** The state of a queue that survives its tickets. */
export interface QueueMemory {
  /** The status that the board last acted on. */
  lastStatus: StatusIgnoringCapacity;
  /** The waits of the last 100 visitors who left the queue for an engagement (D1.7), oldest first. */
  waits: number[];
  /** The smoothed interval between two departures for an engagement while others wait; `null` while unknown. */
  paceMs: number | null;
  /** The last departure for an engagement, if it left others waiting; otherwise `null`. */
  leftOthersAt: number | null;
}

export interface Queue {
  settings: QueueSettings;
  readonly memory: QueueMemory;
  open: boolean;
  readonly hoursDeadline: Deadline;
  /** The operators who may staff the queue. */
  pool: Pool;
  /** Ranked operators of the queue with free capacity, best first. */
  ranked: FreeOperators;
  /** The number of visitors in the queue: waiting or offered (D2.2). */
  visitors: number;
  /** Waiting tickets, oldest first. */
  readonly line: TicketLine<Ticket>;
  /** The criteria of tickets for this queue alone, by medium: one text for all of them. */
  readonly criteria: Partial<Record<Medium, string>>;
}

/** Operators with free capacity, best first. */
export interface FreeOperators {
  add(operator: Operator): void;
  delete(operator: Operator): void;
  /** The best operator who takes the medium and is not `excluded`. */
  best(medium: Medium, excluded: ((operator: Operator) => boolean) | null): Operator | null;
}

/**
 * The operators of a site who are in one of `teams` and in one of `requiredTeams`. An empty list is no restriction.
 *
 * Queues with the same teams share a pool. A change of an operator therefore updates a few pools and not every queue they
 * serve, and an operator who becomes free finds the oldest ticket at the head of a few lines.
 */
export interface Pool {
  readonly key: string;
  readonly siteId: SiteId;
  readonly teams: readonly TeamId[];
  readonly requiredTeams: readonly TeamId[];
  /** Queues that are staffed by this pool. */
  readonly queues: Set<Queue>;
  /** The number of queue entries that this pool serves. */
  entryCount: number;
  /** The number of present operators, indexed by the set of media they take. */
  readonly staff: number[];
  /** The number of present operators who take at least one medium of a set, indexed by the set. */
  readonly staffTaking: number[];
  readonly free: FreeOperators;
  /** Waiting tickets that may be offered to any operator of the pool, oldest first. */
  readonly waiting: WaitingTickets<Ticket>;
}

/** The configuration of an operator, and the presence they last set. */
export interface OperatorSettings {
  readonly id: OperatorId;
  readonly enabled: boolean;
  /** The operator's sites, with their teams on each. */
  readonly sites: ReadonlyMap<SiteId, ReadonlySet<TeamId>>;
  readonly maxEngagements: number;
  readonly available: boolean;
  readonly media: MediaSet;
  /** When the presence lease ends; `null`: never. */
  readonly leaseUntil: number | null;
}

export interface Operator {
  settings: OperatorSettings;
  /** Available now: enabled, set to available, and the lease is running. */
  present: boolean;
  /** Engagements and pending requests: text, and exclusive media (D4.4). */
  texts: number;
  exclusives: number;
  /** The start of the operator's latest engagement; 0: never. */
  lastEngagedAt: number;
  readonly leaseDeadline: Deadline;
  readonly graceDeadline: Deadline;
  pools: Pool[];
  /** The operator's teams on the site on which they were last engaged: one list for all their engagements there. */
  teams: { readonly siteId: SiteId; readonly list: readonly TeamId[] } | null;
  /** Queues in which the operator is ranked. */
  ranked: readonly Queue[];
  /** Whether the operator is in the free lists of their pools. */
  free: boolean;
  /** Tickets that a queue holds for this operator (D4.3), oldest first; `null` until there is one. */
  held: TicketLine<Ticket> | null;
  /** Pending requests, and active engagements. */
  requests: readonly Request[];
  engagements: readonly Engagement[];
}

/** An object that is written when it changes. */
interface Stored {
  /** The changes that created the object; `null` once these were written. */
  createdIn: object | null;
}

/** A ticket's entry in one queue. */
export interface QueueEntry {
  readonly queue: Queue;
  /** The operators who may serve the ticket in this queue: its staff, narrowed to the teams the ticket names. */
  readonly pool: Pool;
  readonly enteredAt: number;
  /**
   * Whether the queue holds the ticket for the operator who last engaged the visitor (D4.3). A waiting ticket is in the line of
   * the pool unless it is held.
   */
  held: boolean;
}

export interface Ticket extends Stored {
  readonly id: TicketId;
  state: TicketState;
  /** When the ticket stopped being waiting or offered. */
  endedAt: number | null;
  engagementId: EngagementId | null;
  /** The queue that made the match. */
  matchedBy: QueueId | null;
  /** The order of first enqueue in the account: like the waiting time, but without ties. */
  readonly seq: number;
  /** `transfer`: an engaged visitor is being transferred to a queue. */
  readonly kind: 'visitor' | 'transfer';
  readonly siteId: SiteId;
  readonly visitor: Visitor;
  /** Changes only if a call that is being transferred is hung up (D5.4). */
  medium: Medium;
  readonly enqueuedAt: number;
  /** The requested criteria in one text, to recognise a repeated request (D3.4). */
  readonly criteria: string;
  readonly visitorTeams: readonly TeamId[];
  /** Only operators of these teams may serve the ticket; empty: any operator. */
  readonly requiredTeams: readonly TeamId[];
  /** Of a transfer: the engagement, and its current operator, who is never offered the ticket. */
  readonly engagement: Engagement | null;
  readonly excludedOperator: OperatorId | null;
  /** The operator who last engaged the visitor; `null` once they refused the ticket (D4.3). */
  preferred: OperatorId | null;
  /** Operators who declined or missed the ticket, and until when it is not offered to them again (D4.5). */
  refusals: Map<OperatorId, number> | null;
  entries: readonly QueueEntry[];
  request: Request | null;
  /** The operator it is held for (D4.3). */
  heldBy: Operator | null;
  /** Passed on to the offers of the ticket. */
  readonly notes: RequestNotes;
  /** The hashed address of the visitor; `null`: not counted by address. */
  readonly address: string | null;
  /** The expiry line of its site, while the ticket is in it. */
  expiry: ExpiryLine | null;
  /** Few tickets are refused or held, so these are created on demand. */
  refusalDeadline: Deadline | null;
  affinityDeadline: Deadline | null;
}

/** The fields of a ticket that its creator sets. */
type NewTicket = Omit<
  Ticket,
  | 'state' | 'endedAt' | 'engagementId' | 'matchedBy' | 'entries' | 'request' | 'heldBy' | 'refusals'
  | 'expiry' | 'refusalDeadline' | 'affinityDeadline'
>; // prettier-ignore

export function newTicket(given: NewTicket): Ticket {
  return {
    id: given.id,
    seq: given.seq,
    kind: given.kind,
    siteId: given.siteId,
    visitor: given.visitor,
    medium: given.medium,
    enqueuedAt: given.enqueuedAt,
    criteria: given.criteria,
    visitorTeams: given.visitorTeams,
    requiredTeams: given.requiredTeams,
    engagement: given.engagement,
    excludedOperator: given.excludedOperator,
    preferred: given.preferred,
    notes: given.notes,
    address: given.address,
    createdIn: given.createdIn,
    state: 'waiting',
    endedAt: null,
    engagementId: null,
    matchedBy: null,
    entries: none,
    request: null,
    heldBy: null,
    refusals: null,
    expiry: null,
    refusalDeadline: null,
    affinityDeadline: null,
  };
}

/** Data that the board passes on unread, except the platform: see `isLasting`. */
export interface RequestNotes {
  readonly source: string | null;
  readonly platform: string;
  readonly mediaOptions: unknown;
  readonly message: string | null;
  /** Ids of the webhooks attached to the request: they receive the events of what it becomes. */
  readonly webhooks: readonly string[];
}

/**
 * A lasting request is an operator's message to the visitor's phone that waits for a reply for days. It does not depend on the
 * presence of either side, and occupies its operator only once it is an engagement. The view `lasting_requests` is the same in
 * SQL.
 */
export function isLasting({ kind, notes }: Pick<Request, 'kind' | 'notes'>): boolean {
  return kind === 'direct' && notes.platform === 'sms';
}

export interface Request extends Stored {
  readonly id: RequestId;
  state: RequestState;
  failReason: FailReason | null;
  failMessage: string | null;
  endedAt: number | null;
  /** `ticket`: an offer of a ticket. `transfer`: to an operator, or the offer of a ticket that transfers to a queue. */
  readonly kind: 'ticket' | 'direct' | 'transfer';
  /** Who made the request. For a transfer always the operator, even if a queue found the target. */
  readonly origin: 'visitor' | 'operator';
  readonly siteId: SiteId;
  readonly visitor: Visitor;
  readonly operator: Operator;
  /** Changes only if a call that is being transferred is hung up (D5.4). */
  medium: Medium;
  readonly queue: Queue | null;
  readonly ticket: Ticket | null;
  /** The engagement to transfer, or the one that the request became. */
  engagement: Engagement | null;
  readonly createdAt: number;
  /** Grows only by outages (D5.15). */
  timeoutMs: number;
  readonly notes: RequestNotes;
  /** The hashed address of a visitor who asked an operator; `null`: not counted by address. */
  readonly address: string | null;
  readonly deadline: Deadline;
}

/** D5.3. */
export interface Engagement extends Stored {
  readonly id: EngagementId;
  endedAt: number | null;
  endReason: EndReason | null;
  readonly requestId: RequestId;
  readonly ticketId: TicketId | null;
  readonly queueId: QueueId | null;
  readonly visitor: Visitor;
  readonly startedAt: number;
  /** The site on which the visitor asked. A fallback queue of another site may serve it (`siteId`). */
  readonly askedOn: SiteId;
  siteId: SiteId;
  operator: Operator;
  medium: Medium;
  subEngagementId: SubEngagementId;
  subStartedAt: number;
  /** The highest medium of the current sub-engagement. */
  highestMedium: Medium;
  /** The operator's teams on the site when the current sub-engagement began; `null`: not recorded. */
  operatorTeams: readonly TeamId[] | null;
  /** The engagement began with a reply from the visitor's phone, so it does not depend on their presence on the site. */
  readonly byPhone: boolean;
  /** Ids of the webhooks attached to its ticket or request and to its transfers. */
  subscribers: readonly string[];
  /** The pending transfer. */
  transfer: Request | Ticket | null;
  /** The current call; `null` while the medium is text or phone. */
  call: Call | null;
}

/** The time in which audio or video is the medium of an engagement. */
export interface Call extends Stored {
  readonly id: CallId;
  readonly engagementId: EngagementId;
  readonly subEngagementId: SubEngagementId;
  readonly startedAt: number;
  endedAt: number | null;
  /** Who hung up; `null`: the call ended with the engagement, or with the operator's part in it. */
  endedBy: 'visitor' | 'operator' | null;
}

/** A visitor with a ticket, request or engagement. */
export interface Visitor {
  readonly id: VisitorId;
  /** When the presence lease ends; `null`: the visitor never set one. */
  leaseUntil: number | null;
  /** Created with the first lease. */
  leaseDeadline: Deadline | null;
  graceDeadline: Deadline | null;
  tickets: readonly Ticket[];
  requests: readonly Request[];
  engagements: readonly Engagement[];
}

/**
 * The tickets of a site in the order in which they expire. All tickets of a site have the same time-out (D3.6), so this is the
 * order of enqueueing. Only the first ticket needs a deadline, and most tickets never become the first.
 */
export interface ExpiryLine {
  readonly tickets: TicketLine<Ticket>;
  readonly deadline: Deadline;
}
