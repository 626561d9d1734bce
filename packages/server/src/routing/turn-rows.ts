import { eventRows, type Traces } from '../events/append.ts';
import type { Changes } from './board/structures/changes.ts';
import { mediaList } from './board/structures/media.ts';
import type { Call, Engagement, Operator, Queue, Request, Ticket } from './board/structures/state.ts';
import type { Moved } from './load-board.ts';

/** The changes of a turn as rows: one JSON text per table, or ids where they suffice. */
export type TurnRows = ReturnType<typeof rowsOf>;

export function rowsOf(changes: Changes, at: Date, traces: Traces) {
  const isNew = (row: Ticket | Request | Engagement | Call): boolean => row.createdIn === changes;
  const [newTickets, oldTickets] = partition(changes.tickets, isNew);
  const [newRequests, oldRequests] = partition(changes.requests, isNew);
  const [newEngagements, oldEngagements] = partition(changes.engagements, isNew);
  const [newCalls, oldCalls] = partition(changes.calls, isNew);
  const sent = sentToVisitors(changes);
  const movedIds: Moved = {
    tickets: idsOf(changes.tickets),
    requests: idsOf(changes.requests),
    engagements: idsOf(changes.engagements),
    operators: [...changes.presences.keys(), ...operatorIds(changes.availabilities)],
    leases: operatorIds(changes.renewals),
    visitors: [...changes.visitorLeases.keys()],
    queue_states: [...changes.queues].map((queue) => queue.settings.id),
    ended: endedIn(changes),
  };
  return {
    newTickets: JSON.stringify(newTickets.map((ticket) => ({ ...fixedOf(ticket), ...ticketRow(ticket) }))),
    oldTickets: JSON.stringify(oldTickets.map(ticketRow)),
    newRequests: JSON.stringify(newRequests.map(newRequestRow)),
    oldRequests: JSON.stringify(oldRequests.map(requestRow)),
    newEngagements: JSON.stringify(
      newEngagements.map((each) => ({ ...newEngagementRow(each), to_visitor: sent.get(each.id) ?? 0 })),
    ),
    oldEngagements: JSON.stringify(
      oldEngagements.map((each) => ({ ...engagementRow(each), to_visitor: sent.get(each.id) ?? 0 })),
    ),
    begun: idsOf(newEngagements.filter(({ endedAt }) => endedAt === null)),
    ended: idsOf(oldEngagements.filter(({ endedAt }) => endedAt !== null)),
    subEngagements: JSON.stringify(changes.subEngagements.map(subEngagementRow)),
    queues: JSON.stringify([...changes.queues].map(queueRow)),
    visits: JSON.stringify(changes.visits.map(visitRow)),
    said: [...changes.presences.keys()],
    presences: JSON.stringify([...changes.presences].map(presenceRow)),
    states: [...changes.states].map(stateRow),
    renewed: [...changes.renewals].map(renewalRow),
    visitors: JSON.stringify([...changes.visitorLeases].map(([id, until]) => ({ id, expires_at: textOf(until) }))),
    messages: JSON.stringify(changes.messages.map(messageRow)),
    newCalls: newCalls.map(callRow),
    oldCalls: oldCalls.map(callRow),
    /** Engagements in which one side hung up. */
    hungUp: [...changes.calls].filter(({ endedBy }) => endedBy !== null).map(({ engagementId }) => engagementId),
    upgrades: changes.upgrades,
    events: eventRows(changes.events, at, traces),
    movedIds: JSON.stringify(movedIds),
    moved: whatMoved(changes),
  };
}

/** What other processes remove from their boards without reading it. */
function endedIn(changes: Changes): NonNullable<Moved['ended']> {
  return {
    tickets: idsOf([...changes.tickets].filter(({ state }) => state !== 'waiting' && state !== 'offered')),
    requests: idsOf([...changes.requests].filter(({ state }) => state !== 'pending')),
    engagements: [...changes.engagements]
      .filter(({ endedAt }) => endedAt !== null)
      .map(({ id, operator, subStartedAt }) => ({
        id,
        operator_id: operator.settings.id,
        sub_started_at: subStartedAt,
      })),
  };
}

/** Which cached queue data is outdated now: the staff (and the counts), or only the visitor counts; `null`: none. */
export function whatMoved(changes: Changes): 'visitors' | 'staff' | null {
  if (changes.presences.size + changes.availabilities.size > 0) return 'staff';
  return changes.queues.size > 0 ? 'visitors' : null;
}

function partition<Row>(rows: Iterable<Row>, isNew: (row: Row) => boolean): [Row[], Row[]] {
  const [newRows, oldRows]: [Row[], Row[]] = [[], []];
  for (const row of rows) (isNew(row) ? newRows : oldRows).push(row);
  return [newRows, oldRows];
}

function operatorIds(operators: ReadonlySet<Operator>): string[] {
  return idsOf([...operators].map(({ settings }) => settings));
}

function idsOf<Id extends string>(rows: Iterable<{ readonly id: Id }>): Id[] {
  return [...rows].map((row) => row.id);
}

/** The instant that was formatted last: most instants of a turn are its own. */
let formatted = { at: 0, text: new Date(0).toJSON() };

/**
 * An instant as JSON has it. The rows have no `Date`, because `JSON.stringify` would call each one, and leaves its fast path for
 * objects that it need not call: that took half the time of writing rows.
 */
function textOf(at: number): string;
function textOf(at: number | null): string | null;
function textOf(at: number | null): string | null {
  if (at === null) return null;
  if (formatted.at !== at) formatted = { at, text: new Date(at).toJSON() };
  return formatted.text;
}

function fixedOf(ticket: Ticket) {
  return {
    site_id: ticket.siteId,
    visitor_id: ticket.visitor.id,
    seq: ticket.seq,
    kind: ticket.kind,
    criteria: ticket.criteria,
    narrowed_to: ticket.narrowedTo,
    never_to: ticket.neverTo,
    notes: ticket.notes,
    address_hash: ticket.endedAt === null ? ticket.address : null,
    enqueued_at: textOf(ticket.enqueuedAt),
  };
}

function ticketRow(ticket: Ticket) {
  return {
    id: ticket.id,
    state: ticket.state,
    media: ticket.medium,
    preferred_operator_id: ticket.preferred,
    refusals: Object.fromEntries(ticket.refusals ?? []),
    queue_ids: ticket.entries.map(({ queue }) => queue.settings.id),
    entered_at: ticket.entries.map(({ enteredAt }) => textOf(enteredAt)),
    request_id: ticket.request?.id ?? null,
    engagement_id: ticket.engagementId ?? ticket.engagement?.id ?? null,
    engaged_queue_id: ticket.matchedBy,
    ended_at: textOf(ticket.endedAt),
  };
}

function requestRow(request: Request) {
  return {
    id: request.id,
    state: request.state,
    media: request.medium,
    fail_reason: request.failReason,
    fail_message: request.failMessage,
    timeout_ms: request.timeoutMs,
    engagement_id: request.engagement?.id ?? null,
  };
}

function newRequestRow(request: Request) {
  return {
    ...requestRow(request),
    site_id: request.siteId,
    kind: request.kind,
    origin: request.origin,
    visitor_id: request.visitor.id,
    operator_id: request.operator.settings.id,
    queue_id: request.queue?.settings.id ?? null,
    ticket_id: request.ticket?.id ?? null,
    notes: request.notes,
    address_hash: request.state === 'pending' ? request.address : null,
    created_at: textOf(request.createdAt),
  };
}

function engagementRow(engagement: Engagement) {
  return {
    id: engagement.id,
    site_id: engagement.siteId,
    operator_id: engagement.operator.settings.id,
    sub_engagement_id: engagement.subEngagementId,
    sub_started_at: textOf(engagement.subStartedAt),
    media: engagement.medium,
    highest_media: engagement.highestMedium,
    operator_team_ids: engagement.operatorTeams,
    end_reason: engagement.endReason,
    ended_at: textOf(engagement.endedAt),
    heard_by: engagement.subscribers,
  };
}

function newEngagementRow(engagement: Engagement) {
  return {
    ...engagementRow(engagement),
    asked_on_site_id: engagement.askedOn,
    visitor_id: engagement.visitor.id,
    request_id: engagement.requestId,
    ticket_id: engagement.ticketId,
    queue_id: engagement.queueId,
    started_at: textOf(engagement.startedAt),
  };
}

function subEngagementRow(sub: Changes['subEngagements'][number]) {
  return {
    id: sub.id,
    engagement_id: sub.engagementId,
    operator_id: sub.operatorId,
    site_id: sub.siteId,
    media: sub.medium,
    started_at: textOf(sub.startedAt),
    highest_media: sub.highestMedium,
    operator_team_ids: sub.operatorTeams,
  };
}

function callRow(call: Call) {
  return {
    id: call.id,
    engagement_id: call.engagementId,
    sub_engagement_id: call.subEngagementId,
    started_at: textOf(call.startedAt),
    ended_at: textOf(call.endedAt),
    ended_by: call.endedBy,
  };
}

function queueRow({ settings, visitors, memory }: Queue) {
  return {
    queue_id: settings.id,
    visitors,
    standing: memory.lastStatus,
    waits: memory.waits,
    pace_ms: memory.paceMs,
    left_others_at: textOf(memory.leftOthersAt),
  };
}

function visitRow({ queueId, ticketId, enqueuedAt, enteredAt, outcome, destinationId }: Changes['visits'][number]) {
  return {
    queue_id: queueId,
    ticket_id: ticketId,
    enqueued_at: textOf(enqueuedAt),
    entered_at: textOf(enteredAt),
    outcome,
    destination_queue_id: destinationId,
  };
}

/** The input of `keep_presence` (migration 0025). */
function stateRow([operator, lapsedAt]: [Operator, number | null]) {
  return { operator_id: operator.settings.id, engaged: operator.engagements.length > 0, lapsed_at: textOf(lapsedAt) };
}

function renewalRow({ settings: { id, leaseUntil } }: Operator) {
  return { id, expires_at: textOf(leaseUntil) };
}

function presenceRow([id, { operator, reason }]: [
  string,
  { operator: { settings: PresenceSettings }; reason: string | null },
]) {
  const { available, media, leaseUntil } = operator.settings;
  return { id, available, media: mediaList(media), expires_at: textOf(leaseUntil), reason };
}

interface PresenceSettings {
  readonly available: boolean;
  readonly media: number;
  readonly leaseUntil: number | null;
}

/** The number of chat messages of the turn that each engagement's visitor must acknowledge. System messages are not counted. */
function sentToVisitors({ messages }: Changes): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { engagementId, sender } of messages)
    if (sender.type === 'operator') counts.set(engagementId, (counts.get(engagementId) ?? 0) + 1);
  return counts;
}

function messageRow(message: Changes['messages'][number]) {
  return {
    id: message.id,
    engagement_id: message.engagementId,
    sub_engagement_id: message.subEngagementId,
    sender_type: message.sender.type,
    sender_id: message.sender.id,
    content: message.content,
    attachment: message.attachment,
  };
}
