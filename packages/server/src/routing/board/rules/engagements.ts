import { isObject, parseCard } from '@usher/contract/response-card';
import { type EndReason, type FailReason } from '@usher/contract/states';
import type { EventFields, EventType } from '../../../events/catalogue.ts';
import type { EngagementId, SiteId, SubEngagementId, TeamId } from '../../../platform/ids.ts';
import { byAge, releaseVisitor, type Board } from '../board.ts';
import { including, without } from '../structures/short-lists.ts';
import { beginCall, finishCall } from './calls.ts';
import type { BoardEvent, BoardEventOf } from '../structures/changes.ts';
import { failRequest, occupy, removeRequest, sourceOf } from './requests.ts';
import { noteEngaged, noteState } from './staffing.ts';
import { isLasting, type Engagement, type Operator, type Queue, type Request } from '../structures/state.ts';
import { endTicket } from './tickets.ts';

/** Accepts a request: starts its engagement, or completes its transfer. */
export function begin(board: Board, request: Request): Engagement {
  return request.kind === 'transfer' ? completeTransfer(board, request) : startEngagement(board, request);
}

function startEngagement(board: Board, request: Request): Engagement {
  const { visitor, operator, siteId, medium, ticket, queue } = request;
  const engagement: Engagement = {
    id: board.newId() as EngagementId,
    operator,
    transfer: null,
    call: null,
    endedAt: null,
    endReason: null,
    visitor,
    medium,
    siteId,
    subEngagementId: board.newId() as SubEngagementId,
    subscribers: request.notes.webhooks,
    createdIn: board.changes,
    requestId: request.id,
    ticketId: ticket?.id ?? null,
    queueId: queue?.settings.id ?? null,
    startedAt: board.now,
    askedOn: ticket?.siteId ?? siteId,
    subStartedAt: board.now,
    highestMedium: medium,
    operatorTeams: teamsOn(operator, siteId),
    byPhone: isLasting(request),
  };
  accept(board, request);
  addEngagement(board, engagement, engagement.byPhone ? 'free' : 'occupied');
  if (operator.engagements.length === 1) noteState(board, operator);
  request.engagement = engagement;
  board.changes.engagements.add(engagement);
  beginCall(board, engagement);
  if (ticket !== null && queue !== null) leaveForEngagement(board, request, queue);
  cancelOtherRequests(board, engagement);
  appendEvent(board, engagement, 'engagement.start', startFields(engagement, request));
  if (queue !== null) welcome(board, engagement, queue);
  return engagement;
}

function startFields(engagement: Engagement, request: Request): EventFields<'engagement.start'> {
  const { medium, startedAt } = engagement;
  const subEngagement = currentSubEngagement(engagement);
  return {
    engagement: {
      id: engagement.id,
      engagement_request_id: request.id,
      visitor_id: engagement.visitor.id,
      current_sub_engagement: subEngagement,
      source: sourceOf(request),
      legs: [{ ...subEngagement, media: medium, started_at: new Date(startedAt).toISOString(), ended_at: null }],
      audio_recording_urls: [],
    },
  };
}

function accept(board: Board, request: Request): void {
  request.state = 'accepted';
  request.endedAt = board.now;
  removeRequest(board, request, 'occupied');
  noteEngaged(board, request.operator, board.now);
  board.changes.requests.add(request);
}

function teamsOn(operator: Operator, siteId: SiteId): readonly TeamId[] {
  if (operator.teams?.siteId !== siteId)
    operator.teams = { siteId, list: [...(operator.settings.sites.get(siteId) ?? [])] };
  return operator.teams.list;
}

/** Adds an engagement to the board. `free`: its operator is not occupied by it yet. */
export function addEngagement(board: Board, engagement: Engagement, was: 'free' | 'occupied'): void {
  board.engagements.set(engagement.id, engagement);
  engagement.visitor.engagements = including(engagement.visitor.engagements, engagement);
  engagement.operator.engagements = including(engagement.operator.engagements, engagement);
  if (was === 'free') occupy(board, engagement.operator, engagement.medium, 1);
}

export function removeEngagement(board: Board, engagement: Engagement): void {
  board.engagements.delete(engagement.id);
  engagement.visitor.engagements = without(engagement.visitor.engagements, engagement);
  engagement.operator.engagements = without(engagement.operator.engagements, engagement);
  occupy(board, engagement.operator, engagement.medium, -1);
}

/** The number of waits that the average is made of (D1.7). */
const maxWaits = 100;
/** The weight of the newest interval in the smoothed pace. */
const paceSmoothing = 0.1;

function leaveForEngagement(board: Board, { ticket, engagement }: Request, queue: Queue): void {
  if (ticket === null || engagement === null) return;
  ticket.request = null;
  ticket.matchedBy = queue.settings.id;
  ticket.engagementId = engagement.id;
  endTicket(board, ticket, 'engaged');
  const { memory } = queue;
  if (memory.waits.length >= maxWaits) memory.waits.shift();
  memory.waits.push(board.now - ticket.enqueuedAt);
  if (memory.leftOthersAt !== null) {
    const interval = board.now - memory.leftOthersAt;
    memory.paceMs = memory.paceMs === null ? interval : memory.paceMs + paceSmoothing * (interval - memory.paceMs);
  }
  memory.leftOthersAt = queue.visitors > 0 ? board.now : null;
}

/** Whether the engagement is on the site or was requested there, so that the visitor may not request another (D3.4). */
export function isOn({ siteId, askedOn }: Engagement, site: SiteId): boolean {
  return siteId === site || askedOn === site;
}

/** Ends the other tickets and direct requests of an engaged visitor on the site. */
function cancelOtherRequests(board: Board, engagement: Engagement): void {
  const { id, visitor } = engagement;
  for (const ticket of byAge(visitor.tickets, ({ seq }) => seq)) {
    if (ticket.kind !== 'visitor' || !isOn(engagement, ticket.siteId)) continue;
    if (ticket.request !== null) failRequest(board, ticket.request, 'visitor_cancel');
    ticket.engagementId = id;
    addSubscribers(engagement, ticket.notes.webhooks);
    endTicket(board, ticket, 'engaged');
  }
  for (const request of byAge(visitor.requests, ({ createdAt }) => createdAt))
    if (request.kind === 'direct' && isOn(engagement, request.siteId)) failRequest(board, request, 'visitor_cancel');
}

function addSubscribers(engagement: Engagement, webhooks: readonly string[]): void {
  if (webhooks.length > 0) engagement.subscribers = [...new Set([...engagement.subscribers, ...webhooks])];
}

/** D5.6. */
function welcome(board: Board, engagement: Engagement, { settings: { welcomeMessage } }: Queue): void {
  if (welcomeMessage === null) return;
  const card = parseCard(welcomeMessage);
  const content = card === null ? welcomeMessage : String(card['content']);
  const attachment = card !== null && isObject(card['attachment']) ? cardAttachment(card['attachment']) : null;
  // A response card may be empty.
  if (content === '' && attachment === null) return;
  const id = board.newId();
  board.changes.messages.push({
    id,
    engagementId: engagement.id,
    subEngagementId: engagement.subEngagementId,
    sender: { type: 'operator', id: engagement.operator.settings.id },
    content,
    attachment,
    at: board.now,
  });
  appendEvent(board, engagement, 'engagement.chat.message', {
    message: {
      timestamp: new Date(board.now).toISOString(),
      id,
      engagement_id: engagement.id,
      sub_engagement_id: engagement.subEngagementId,
      content,
      status: 'sent',
      sender: { type: 'operator' },
      target: 'visitor',
      type: 'chat',
      attachment,
    },
    undelivered_messages: false,
  });
}

type Card = Extract<BoardEvent, { type: 'engagement.chat.message' }>['fields']['message']['attachment'];

/** Keeps the known fields of the card, which was validated when the queue was saved. */
function cardAttachment({ image_url: image, options }: Record<string, unknown>): Card {
  const choices = options as readonly { text: string; value: string }[];
  return {
    type: 'single_choice',
    ...(typeof image === 'string' ? { image_url: image } : {}),
    options: choices.map(({ text, value }) => ({ text, value })),
  };
}

/** D5.4: the visitor and the engagement stay, the operator changes. */
function completeTransfer(board: Board, request: Request): Engagement {
  const { engagement, ticket, operator, siteId, medium } = request;
  if (engagement === null) throw new Error('a transfer has no engagement');
  const previous = currentSubEngagement(engagement);
  accept(board, request);
  finishCall(board, engagement, null);
  closeSub(board, engagement);
  removeEngagement(board, engagement);
  if (engagement.operator.engagements.length === 0) noteState(board, engagement.operator);
  engagement.operator = operator;
  engagement.siteId = siteId;
  engagement.medium = medium;
  engagement.highestMedium = medium;
  engagement.operatorTeams = teamsOn(operator, siteId);
  engagement.subEngagementId = board.newId() as SubEngagementId;
  engagement.subStartedAt = board.now;
  engagement.transfer = null;
  addSubscribers(engagement, request.notes.webhooks);
  addEngagement(board, engagement, 'occupied');
  if (operator.engagements.length === 1) noteState(board, operator);
  board.changes.engagements.add(engagement);
  beginCall(board, engagement);
  if (ticket !== null && request.queue !== null) leaveForEngagement(board, request, request.queue);
  appendEvent(board, engagement, 'engagement.transfer', {
    engagement: {
      id: engagement.id,
      engagement_request_id: engagement.requestId,
      transfer_request_id: request.id,
      visitor_id: engagement.visitor.id,
      previous_sub_engagement: previous,
      current_sub_engagement: currentSubEngagement(engagement),
    },
  });
  return engagement;
}

/** The reason for which a pending transfer fails when its engagement ends. */
const failsAs: Readonly<Record<EndReason, FailReason>> = {
  visitor_hung_up: 'visitor_cancel',
  operator_hung_up: 'operator_cancel',
  visitor_left: 'visitor_left',
  operator_left: 'operator_left',
  error: 'error',
};

export function endEngagement(board: Board, engagement: Engagement, reason: EndReason): void {
  const { transfer } = engagement;
  if (transfer !== null) dropTransfer(board, transfer, failsAs[reason]);
  finishCall(board, engagement, null);
  engagement.endedAt = board.now;
  engagement.endReason = reason;
  removeEngagement(board, engagement);
  if (engagement.operator.engagements.length === 0) noteState(board, engagement.operator);
  board.changes.engagements.add(engagement);
  appendEvent(board, engagement, 'engagement.end', {
    engagement: {
      id: engagement.id,
      engagement_request_id: engagement.requestId,
      visitor_id: engagement.visitor.id,
      current_sub_engagement: currentSubEngagement(engagement),
      end_reason: reason,
    },
  });
  releaseVisitor(board, engagement.visitor);
}

/** Cancels a pending transfer. */
export function dropTransfer(board: Board, transfer: NonNullable<Engagement['transfer']>, reason: FailReason): void {
  if ('seq' in transfer) {
    if (transfer.request !== null) failRequest(board, transfer.request, reason);
    endTicket(board, transfer, 'canceled');
  } else failRequest(board, transfer, reason);
}

/** Records the current sub-engagement as ended, before a transfer replaces it. */
function closeSub(board: Board, engagement: Engagement): void {
  const { id: engagementId, subEngagementId: id, operator, siteId, medium, subStartedAt: startedAt } = engagement;
  const { highestMedium, operatorTeams } = engagement;
  const ended = { id, engagementId, operatorId: operator.settings.id, siteId, medium, startedAt };
  board.changes.subEngagements.push({ ...ended, highestMedium, operatorTeams });
}

/** Appends an event about the engagement to the changes. */
export function appendEvent<Type extends EventType>(
  board: Board,
  engagement: Engagement,
  type: Type,
  fields: EventFields<Type>,
): void {
  const { id: engagementId, siteId, ticketId, requestId, visitor, operator, subscribers } = engagement;
  const about = {
    siteId,
    ticketId,
    requestId,
    engagementId,
    visitorId: visitor.id,
    operatorId: operator.settings.id,
    subscribers,
  };
  const event: BoardEventOf<Type> = { type, id: board.newId(), at: board.now, about, fields };
  // The compiler does not see that the event of a type is one of the events of all types.
  board.changes.events.push(event as unknown as BoardEvent);
}

/** The current sub-engagement as payloads show it. */
function currentSubEngagement({ subEngagementId, operator, siteId }: Engagement) {
  return { id: subEngagementId, operator_id: operator.settings.id, site_id: siteId };
}
