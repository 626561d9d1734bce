import type {
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  SubEngagementId,
  TicketId,
  VisitorId,
} from '../../platform/ids.ts';
import type { Medium } from '../../platform/schema.ts';
import { staffFor } from './pools.ts';
import type { EndReason, Engagement, FailReason, Request, RequestNotes, Ticket, TicketState } from './state.ts';

/** Things as they were when a command had been carried out: what is answered must not change with the next. */

export interface TicketView {
  readonly id: TicketId;
  readonly state: TicketState;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly medium: Medium;
  readonly queueIds: readonly QueueId[];
  /** D3.7: `null` when it no longer waits. */
  readonly position: number | null;
  readonly estimatedWaitMs: number | null;
  readonly engagementId: EngagementId | null;
  readonly requestId: RequestId | null;
  readonly enqueuedAt: number;
}

export function viewTicket(ticket: Ticket): TicketView {
  return {
    id: ticket.id,
    state: ticket.state,
    siteId: ticket.siteId,
    visitorId: ticket.visitor.id,
    medium: ticket.medium,
    queueIds: ticket.places.map(({ queue }) => queue.settings.id),
    position: positionOf(ticket),
    estimatedWaitMs: estimateOf(ticket),
    engagementId: ticket.engagementId ?? ticket.engagement?.id ?? null,
    requestId: ticket.request?.id ?? null,
    enqueuedAt: ticket.enqueuedAt,
  };
}

/** The best of its queues. */
function positionOf(ticket: Ticket): number | null {
  if (ticket.state !== 'waiting') return null;
  return Math.min(...ticket.places.map(({ queue }) => queue.line.rank(ticket))) + 1;
}

/** As many steps as its position, each as long as they lately took; unknown where nobody is there or nobody has left yet. */
function estimateOf(ticket: Ticket): number | null {
  if (ticket.state === 'offered') return 0;
  if (ticket.state !== 'waiting') return null;
  const estimates = ticket.places.flatMap(({ queue, pool }) => {
    const { paceMs } = queue.memory;
    return paceMs === null || staffFor(pool, ticket.medium) === 0 ? [] : [(queue.line.rank(ticket) + 1) * paceMs];
  });
  return estimates.length === 0 ? null : Math.min(...estimates);
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
