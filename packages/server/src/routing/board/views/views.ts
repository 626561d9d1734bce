import type { Medium } from '@usher/contract/media';
import type { EndReason, FailReason, TicketState } from '@usher/contract/states';
import type {
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  SubEngagementId,
  TicketId,
  VisitorId,
} from '../../../platform/ids.ts';
import { staffFor } from '../structures/pools.ts';
import type { Engagement, QueueEntry, Request, RequestNotes, Ticket } from '../structures/state.ts';

/** Immutable snapshots of board objects: an answer must not change with the next command. */

export interface TicketView {
  readonly id: TicketId;
  readonly state: TicketState;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly medium: Medium;
  readonly queueIds: readonly QueueId[];
  /** D3.7; `null` unless the ticket is waiting. */
  readonly position: number | null;
  readonly estimatedWaitMs: number | null;
  readonly engagementId: EngagementId | null;
  readonly requestId: RequestId | null;
  readonly enqueuedAt: number;
}

export function viewTicket(ticket: Ticket): TicketView {
  let position: number | null = null;
  let estimate: number | null = ticket.state === 'offered' ? 0 : null;
  for (const entry of ticket.entries) {
    if (ticket.state !== 'waiting') break;
    const inQueue = entry.queue.line.rank(ticket) + 1;
    const wait = estimateWait(ticket, entry, inQueue);
    if (position === null || inQueue < position) position = inQueue;
    if (wait !== null && (estimate === null || wait < estimate)) estimate = wait;
  }
  return {
    id: ticket.id,
    state: ticket.state,
    siteId: ticket.siteId,
    visitorId: ticket.visitor.id,
    medium: ticket.medium,
    queueIds: ticket.entries.map(queueIdOf),
    position,
    estimatedWaitMs: estimate,
    engagementId: ticket.engagementId ?? ticket.engagement?.id ?? null,
    requestId: ticket.request?.id ?? null,
    enqueuedAt: ticket.enqueuedAt,
  };
}

function queueIdOf({ queue }: QueueEntry): QueueId {
  return queue.settings.id;
}

/** The position times the recent pace of the queue; `null` if no operator is present or nobody has left the queue yet. */
function estimateWait({ medium }: Ticket, { queue, pool }: QueueEntry, position: number): number | null {
  const { paceMs } = queue.memory;
  return paceMs === null || staffFor(pool, medium) === 0 ? null : position * paceMs;
}

export interface RequestView {
  readonly id: RequestId;
  readonly kind: Request['kind'];
  readonly origin: Request['origin'];
  readonly state: Request['state'];
  readonly failReason: FailReason | null;
  readonly failMessage: string | null;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  readonly medium: Medium;
  readonly queueId: QueueId | null;
  readonly ticketId: TicketId | null;
  readonly engagementId: EngagementId | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
  readonly timeoutMs: number;
  readonly notes: RequestNotes;
}

export function viewRequest(request: Request): RequestView {
  const { id, kind, origin, state, failReason, failMessage, siteId, medium, createdAt, endedAt, timeoutMs, notes } =
    request;
  return {
    id,
    kind,
    origin,
    state,
    failReason,
    failMessage,
    siteId,
    visitorId: request.visitor.id,
    operatorId: request.operator.settings.id,
    medium,
    queueId: request.queue?.settings.id ?? null,
    ticketId: request.ticket?.id ?? null,
    engagementId: request.engagement?.id ?? null,
    createdAt,
    endedAt,
    timeoutMs,
    notes,
  };
}

export interface EngagementView {
  readonly id: EngagementId;
  readonly subEngagementId: SubEngagementId;
  readonly endReason: EndReason | null;
}

export function viewEngagement({ id, subEngagementId, endReason }: Engagement): EngagementView {
  return { id, subEngagementId, endReason };
}
