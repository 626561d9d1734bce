import type { EndReason, FailReason } from '@usher/contract/states';
import { isOpen, nextChange } from '../../../packages/server/src/schedules/hours.ts';
import {
  activeTickets,
  chainOf,
  finishCall,
  followMedium,
  isActive,
  isIn,
  obstacleOf,
  pending,
  siteOf,
  visitorsIn,
  type Engagement,
  type Match,
  type Operator,
  type Queue,
  type Request,
  type Ticket,
  type World,
} from './reference-world.ts';

/** The state transitions of the reference, and their events. */

const refusalMs = 60_000;

export function expiresAt(world: World, { enqueuedAt, siteId }: Ticket): number {
  return enqueuedAt + siteOf(world, siteId).ticketTimeoutMs;
}

export function updateHours(world: World, queue: Queue): void {
  const { hours } = queue.settings;
  queue.open = hours === null || isOpen(hours, world.now);
  queue.hoursAt = hours === null ? null : nextChange(hours, world.now);
}

export function updatePresence(world: World, operator: Operator): void {
  const { enabled, available, leaseUntil } = operator.settings;
  operator.leaseRuns = leaseUntil === null || leaseUntil > world.now;
  operator.present = enabled && available && operator.leaseRuns;
  if (!operator.present) world.absent.add(operator);
}

/** D3.5. */
export function reroute(world: World, ticket: Ticket, queue: Queue): void {
  const [, ...fallbacks] = chainOf(world, queue);
  const target = fallbacks.find((other) => isIn(ticket, other) || obstacleOf(world, other, ticket) === 0);
  if (target === undefined && queue.lastStatus === 'closed') return;
  if (target === undefined && ticket.entries.length === 1) return endTicket(world, ticket, 'unstaffed');
  leaveQueue(world, ticket, queue, target === undefined ? 'unstaffed' : 'moved');
  ticket.entries = ticket.entries.filter((entry) => entry.queue !== queue);
  if (target !== undefined && !isIn(ticket, target)) ticket.entries.push({ queue: target, enteredAt: world.now });
  return undefined;
}

function leaveQueue(world: World, ticket: Ticket, queue: Queue, outcome: string): void {
  const enteredAt = ticket.entries.find((entry) => entry.queue === queue)?.enteredAt ?? NaN;
  world.visits.push({ queue: queue.id, ticket: ticket.id, enteredAt, outcome });
}

export function endTicket(world: World, ticket: Ticket, state: Ticket['state'], matchedBy: Queue | null = null): void {
  for (const { queue } of ticket.entries)
    leaveQueue(world, ticket, queue, state === 'engaged' && queue !== matchedBy ? 'engaged_elsewhere' : state);
  ticket.state = state;
  ticket.endedAt = world.now;
  if (ticket.engagement?.transfer === ticket) ticket.engagement.transfer = null;
}

export function offer(world: World, { ticket, queue, operator }: Match): void {
  const { siteId } = queue.settings;
  const isTransfer = ticket.kind === 'transfer';
  ticket.request = createRequest(world, {
    id: world.newId(),
    kind: isTransfer ? 'transfer' : 'ticket',
    origin: isTransfer ? 'operator' : 'visitor',
    siteId,
    visitorId: ticket.visitorId,
    operator,
    medium: ticket.medium,
    queue,
    ticket,
    engagement: ticket.engagement,
    timeoutMs: siteOf(world, siteId).reactiveMs,
    lasting: false,
    address: null,
  });
  ticket.state = 'offered';
}

export function createRequest(
  world: World,
  fields: Omit<Request, 'createdAt' | 'state' | 'failReason' | 'endedAt'>,
): Request {
  const request: Request = { ...fields, createdAt: world.now, state: 'pending', failReason: null, endedAt: null };
  world.requests.push(request);
  return request;
}

/** Every ticket and every direct request has its own webhook; an offer uses the webhook of its ticket. */
export function hookOf({ id }: { readonly id: string }): string {
  return `hook of ${id}`;
}

function hooksOf(request: Request): readonly string[] {
  return [hookOf(request.ticket ?? request)];
}

export function fail(world: World, request: Request, reason: FailReason, message: string | null = null): void {
  request.state = 'failed';
  request.failReason = reason;
  request.endedAt = world.now;
  if (request.ticket !== null) request.ticket.request = null;
  else if (request.engagement !== null) request.engagement.transfer = null;
  if (request.kind === 'transfer') return;
  const { id, siteId, visitorId, operator, ticket } = request;
  const named = { id, site_id: siteId, visitor_id: visitorId, operator_id: operator.id, fail_reason: reason };
  world.events.push({
    type: 'engagement.request.failure',
    about: {
      siteId,
      ticketId: ticket?.id ?? null,
      requestId: id,
      engagementId: null,
      visitorId,
      operatorId: operator.id,
      subscribers: hooksOf(request),
    },
    fields: { engagement_request: reason === 'error' ? { ...named, fail_message: message } : named },
  });
}

/** The request fails; its ticket waits again in the same position. */
export function failAndRequeue(
  world: World,
  request: Request,
  reason: FailReason,
  message: string | null = null,
): void {
  fail(world, request, reason, message);
  const { ticket, operator } = request;
  if (ticket === null) return;
  if (reason === 'rejected' || reason === 'timed_out' || reason === 'error') {
    ticket.refusals.set(operator.id, world.now + refusalMs);
    if (ticket.preferred === operator.id) ticket.preferred = null;
  }
  ticket.state = 'waiting';
  if (expiresAt(world, ticket) <= world.now) return endTicket(world, ticket, 'expired');
  for (const { queue } of ticket.entries.slice())
    if (isActive(ticket) && queue.lastStatus !== 'opened') reroute(world, ticket, queue);
  return undefined;
}

function accept(world: World, request: Request): void {
  request.state = 'accepted';
  request.endedAt = world.now;
  request.operator.lastEngagedAt = world.now;
}

/** D5: the engagement begins and ends the visitor's other tickets and requests on that site. */
export function start(world: World, request: Request): void {
  const { visitorId, siteId, operator, medium, queue } = request;
  accept(world, request);
  const engagement: Engagement = {
    id: world.newId(),
    request,
    visitorId,
    startedAt: world.now,
    subId: world.newId(),
    subStartedAt: world.now,
    siteId,
    askedOn: request.ticket?.siteId ?? siteId,
    operator,
    medium,
    subscribers: hooksOf(request),
    transfer: null,
    endedAt: null,
    endReason: null,
    calls: [],
  };
  followMedium(world, engagement);
  world.engagements.push(engagement);
  request.engagement = engagement;
  engage(world, request, engagement);
  const sites = new Set([siteId, engagement.askedOn]);
  for (const ticket of activeTickets(world)) {
    if (ticket.visitorId !== visitorId || !sites.has(ticket.siteId) || ticket.kind !== 'visitor') continue;
    if (ticket.request !== null) fail(world, ticket.request, 'visitor_cancel');
    ticket.engagementId = engagement.id;
    engagement.subscribers = [...engagement.subscribers, hookOf(ticket)];
    endTicket(world, ticket, 'engaged');
  }
  for (const other of pending(world))
    if (other.visitorId === visitorId && sites.has(other.siteId) && other.kind === 'direct')
      fail(world, other, 'visitor_cancel');
  const leg = { ...sub(engagement), media: medium, started_at: new Date(world.now).toISOString(), ended_at: null };
  appendEvent(world, engagement, 'engagement.start', {
    ...named(engagement),
    current_sub_engagement: sub(engagement),
    source: request.lasting ? 'sms' : request.ticket === null ? request.origin : 'queue',
    legs: [leg],
    audio_recording_urls: [],
  });
  const content = queue?.settings.welcomeMessage ?? null;
  if (content !== null && content !== '') appendWelcome(world, engagement, content);
}

/** Ends the ticket, and records its wait in the queue that made the match. */
function engage(world: World, { ticket, queue }: Request, { id }: Engagement): void {
  if (ticket === null || queue === null) return;
  ticket.request = null;
  ticket.engagementId = id;
  endTicket(world, ticket, 'engaged', queue);
  queue.waits = [...queue.waits, world.now - ticket.enqueuedAt].slice(-100);
  if (queue.leftOthersAt !== null) {
    const interval = world.now - queue.leftOthersAt;
    queue.paceMs = queue.paceMs === null ? interval : queue.paceMs + 0.1 * (interval - queue.paceMs);
  }
  queue.leftOthersAt = visitorsIn(world, queue).length > 0 ? world.now : null;
}

/** D5.4. */
export function completeTransfer(world: World, request: Request, engagement: Engagement): void {
  const previous = sub(engagement);
  accept(world, request);
  engagement.transfer = null;
  engagement.operator = request.operator;
  engagement.siteId = request.siteId;
  engagement.medium = request.medium;
  // A new operator means a new call.
  finishCall(world, engagement, null);
  followMedium(world, engagement);
  engagement.subscribers = [...engagement.subscribers, ...hooksOf(request)];
  engagement.subId = world.newId();
  engagement.subStartedAt = world.now;
  engage(world, request, engagement);
  const { id, engagement_request_id, visitor_id } = named(engagement);
  appendEvent(world, engagement, 'engagement.transfer', {
    id,
    engagement_request_id,
    transfer_request_id: request.id,
    visitor_id,
    previous_sub_engagement: previous,
    current_sub_engagement: sub(engagement),
  });
}

export function endEngagement(world: World, engagement: Engagement, reason: EndReason): void {
  const because = { visitor_hung_up: 'visitor_cancel', operator_hung_up: 'operator_cancel' } as const;
  const failReason = reason === 'visitor_hung_up' || reason === 'operator_hung_up' ? because[reason] : reason;
  dropTransfer(world, engagement, failReason);
  engagement.endedAt = world.now;
  engagement.endReason = reason;
  followMedium(world, engagement);
  const fields = { ...named(engagement), current_sub_engagement: sub(engagement), end_reason: reason };
  appendEvent(world, engagement, 'engagement.end', fields);
}

export function dropTransfer(world: World, { transfer }: Engagement, reason: FailReason): void {
  if (transfer === null) return;
  const request = 'entries' in transfer ? transfer.request : transfer;
  if (request !== null) fail(world, request, reason);
  if ('entries' in transfer) endTicket(world, transfer, 'canceled');
}

function named({ id, request, visitorId }: Engagement) {
  return { id, engagement_request_id: request.id, visitor_id: visitorId };
}

function sub({ subId, operator, siteId }: Engagement) {
  return { id: subId, operator_id: operator.id, site_id: siteId };
}

export function appendEvent(world: World, engagement: Engagement, type: string, data: object): void {
  const { id, request, visitorId, siteId, operator, subscribers } = engagement;
  const parties = { engagementId: id, visitorId, operatorId: operator.id, subscribers };
  const about = { siteId, ticketId: request.ticket?.id ?? null, requestId: request.id, ...parties };
  world.events.push({ type, about, fields: type.startsWith('engagement.chat.') ? data : { engagement: data } });
}

/** D5.6. */
function appendWelcome(world: World, engagement: Engagement, content: string): void {
  appendEvent(world, engagement, 'engagement.chat.message', {
    message: {
      timestamp: new Date(world.now).toISOString(),
      id: 'new',
      engagement_id: engagement.id,
      sub_engagement_id: engagement.subId,
      content,
      status: 'sent',
      sender: { type: 'operator' },
      target: 'visitor',
      type: 'chat',
      attachment: null,
    },
    undelivered_messages: false,
  });
}
