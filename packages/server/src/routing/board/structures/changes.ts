import type { Medium } from '@usher/contract/media';
import type { TicketState } from '@usher/contract/states';
import type {
  EngagementId,
  OperatorId,
  QueueId,
  SiteId,
  SubEngagementId,
  TeamId,
  TicketId,
  VisitorId,
} from '../../../platform/ids.ts';
import type { EventFields, EventType } from '../../../events/catalogue.ts';
import type { Call, Engagement, Operator, Queue, Request, Ticket } from './state.ts';

/** What a turn must write: each object once, in its final state. The `createdIn` of a new object is these changes. */
export interface Changes {
  readonly tickets: Set<Ticket>;
  readonly requests: Set<Request>;
  readonly engagements: Set<Engagement>;
  /** The engagement of each call is in `engagements` as well. */
  readonly calls: Set<Call>;
  readonly queues: Set<Queue>;
  /** Operators who set their presence or whom the board made unavailable, with the reason. */
  readonly presences: Map<OperatorId, { readonly operator: Operator; readonly reason: string | null }>;
  /** Operators whose lease was renewed; nothing else of their presence has changed. */
  readonly renewals: Set<Operator>;
  /** Operators whose lease ended, or who came back after its end: nothing is written for it, but other processes are notified. */
  readonly availabilities: Set<Operator>;
  /**
   * Operators whose state (available, away, engaged, offline) may have changed: their presence interval is compared with it. The
   * value is the instant at which the lease had ended before the change; `null`: it was running.
   */
  readonly states: Map<Operator, number | null>;
  readonly visitorLeases: Map<VisitorId, number | null>;
  readonly visits: Visit[];
  readonly subEngagements: SubEngagement[];
  readonly messages: BoardMessage[];
  /** Ids of accepted media upgrades. */
  readonly upgrades: string[];
  readonly events: BoardEvent[];
}

/** A visitor's completed stay in a queue. */
export interface Visit {
  readonly queueId: QueueId;
  readonly ticketId: TicketId;
  readonly enqueuedAt: number;
  readonly enteredAt: number;
  readonly leftAt: number;
  /** `moved`: to a fallback queue. `engaged_elsewhere`: another queue of the ticket made the match, or none did. */
  readonly outcome: Exclude<TicketState, 'waiting' | 'offered'> | 'moved' | 'engaged_elsewhere';
  /** The fallback queue, or the queue that made the match instead; `null`: the visitor went to no other queue. */
  readonly destinationId: QueueId | null;
}

/** A sub-engagement that ended with a transfer. The current one is part of the engagement. */
interface SubEngagement {
  readonly id: SubEngagementId;
  readonly engagementId: EngagementId;
  readonly operatorId: OperatorId;
  readonly siteId: SiteId;
  /** The medium at the end. */
  readonly medium: Medium;
  readonly startedAt: number;
  readonly highestMedium: Medium;
  readonly operatorTeams: readonly TeamId[] | null;
}

/** A message written by the board: a welcome message in the operator's name, or a system message to the operator. */
interface BoardMessage {
  readonly id: string;
  readonly engagementId: EngagementId;
  readonly subEngagementId: SubEngagementId;
  readonly sender:
    { readonly type: 'operator'; readonly id: OperatorId } | { readonly type: 'system'; readonly id: null };
  readonly content: string;
  readonly attachment: unknown;
  readonly at: number;
}

/** Whom an event is about; this decides who receives it. */
interface About {
  readonly siteId: SiteId;
  readonly ticketId: TicketId | null;
  readonly requestId: string | null;
  readonly engagementId: EngagementId | null;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  /** Ids of attached webhooks that may receive the event. */
  readonly subscribers: readonly string[];
}

/** An event of one type. */
export interface BoardEventOf<Type extends EventType> {
  readonly type: Type;
  readonly id: string;
  readonly at: number;
  readonly about: About;
  readonly fields: EventFields<Type>;
}

/** An event as the board appends it. */
export type BoardEvent = { [Type in EventType]: BoardEventOf<Type> }[EventType];

export function noChanges(): Changes {
  return {
    tickets: new Set(),
    requests: new Set(),
    engagements: new Set(),
    calls: new Set(),
    queues: new Set(),
    presences: new Map(),
    renewals: new Set(),
    availabilities: new Set(),
    states: new Map(),
    visitorLeases: new Map(),
    visits: [],
    subEngagements: [],
    messages: [],
    upgrades: [],
    events: [],
  };
}

/**
 * Ends `createdIn` of the objects that the changes created. It refers to the changes, and the changes refer to objects that older
 * changes created: all objects that were ever on the board would stay in memory.
 */
export function unmark(changes: Changes): void {
  for (const created of [changes.tickets, changes.requests, changes.engagements, changes.calls])
    for (const each of created) if (each.createdIn === changes) each.createdIn = null;
}

export function isEmpty(changes: Changes): boolean {
  return (
    changes.tickets.size === 0 &&
    changes.requests.size === 0 &&
    changes.engagements.size === 0 &&
    changes.queues.size === 0 &&
    changes.presences.size === 0 &&
    changes.renewals.size === 0 &&
    changes.availabilities.size === 0 &&
    changes.states.size === 0 &&
    changes.visitorLeases.size === 0
  );
}
