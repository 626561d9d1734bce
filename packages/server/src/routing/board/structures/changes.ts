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
import { ChangeList } from './dirty-list.ts';
import type { Call, Engagement, Operator, Queue, Request, Ticket } from './state.ts';

/** What is to be written: each thing once, as it is at the end. A new thing says that it was made in these. */
export interface Changes {
  readonly tickets: ChangeList<Ticket>;
  readonly requests: ChangeList<Request>;
  readonly engagements: ChangeList<Engagement>;
  /** Their engagements have changed, too. */
  readonly calls: ChangeList<Call>;
  readonly queues: ChangeList<Queue>;
  /** Operators made unavailable by the board, or who said something of themselves: with the reason given. */
  readonly presences: Map<OperatorId, { readonly operator: Operator; readonly reason: string | null }>;
  /** Operators whose lease goes on: nothing else of their presence has changed. */
  readonly renewals: Set<Operator>;
  /** Operators whose lease ran out: nothing is written of them, but others must hear of it. */
  readonly lapsed: Set<Operator>;
  /**
   * Operators who may be in another state (available, away, engaged, offline): their presence interval is compared with it. With
   * each, the instant at which their lease had ended before the change; `null`: it had not.
   */
  readonly states: Map<Operator, number | null>;
  readonly visitorLeases: Map<VisitorId, number | null>;
  readonly visits: Visit[];
  readonly subEngagements: SubEngagement[];
  readonly messages: BoardMessage[];
  /** Media upgrades that were accepted. */
  readonly upgrades: string[];
  readonly events: BoardEvent[];
}

/** A visitor has left a queue. */
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

/** One that is over, because its engagement was transferred: the current one is part of the engagement. */
interface SubEngagement {
  readonly id: SubEngagementId;
  readonly engagementId: EngagementId;
  readonly operatorId: OperatorId;
  readonly siteId: SiteId;
  /** When it ended. */
  readonly medium: Medium;
  readonly startedAt: number;
  readonly highestMedium: Medium;
  readonly operatorTeams: readonly TeamId[] | null;
}

/** What is said by the service itself: a welcome in the operator's name, or news of the system for the operator. */
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

/** Whom an event is about: for those who may be sent it or see it. */
export interface About {
  readonly siteId: SiteId;
  readonly ticketId: TicketId | null;
  readonly requestId: string | null;
  readonly engagementId: EngagementId | null;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  /** Ids of attached webhooks that may be sent it. */
  readonly subscribers: readonly string[];
}

interface BoardEventOf<Type extends EventType> {
  readonly type: Type;
  readonly id: string;
  readonly at: number;
  readonly about: About;
  readonly fields: EventFields<Type>;
}

/** An event as the board tells it. */
export type BoardEvent = { [Type in EventType]: BoardEventOf<Type> }[EventType];

export function noChanges(): Changes {
  return {
    tickets: new ChangeList(),
    requests: new ChangeList(),
    engagements: new ChangeList(),
    calls: new ChangeList(),
    queues: new ChangeList(),
    presences: new Map(),
    renewals: new Set(),
    lapsed: new Set(),
    states: new Map(),
    visitorLeases: new Map(),
    visits: [],
    subEngagements: [],
    messages: [],
    upgrades: [],
    events: [],
  };
}

export function isEmpty(changes: Changes): boolean {
  return (
    changes.tickets.size === 0 &&
    changes.requests.size === 0 &&
    changes.engagements.size === 0 &&
    changes.queues.size === 0 &&
    changes.presences.size === 0 &&
    changes.renewals.size === 0 &&
    changes.lapsed.size === 0 &&
    changes.states.size === 0 &&
    changes.visitorLeases.size === 0
  );
}
