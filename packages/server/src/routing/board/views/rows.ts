import type { Medium } from '@usher/contract/media';
import type { TicketState } from '@usher/contract/states';
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
import { including, none, releaseVisitor, getOrAddVisitor, type Board } from '../board.ts';
import { newRequest } from '../structures/new-request.ts';
import { addEngagement, removeEngagement } from '../rules/engagements.ts';
import { resetExpiry } from '../structures/expiry.ts';
import { removeFromLine } from '../structures/lines.ts';
import { poolForTicket } from '../structures/board-pools.ts';
import { scheduleLeaseDeadlines } from '../rules/presence.ts';
import { addRequest, occupy, removeRequest } from '../rules/requests.ts';
import { noteEngaged } from '../rules/staffing.ts';
import type {
  Engagement,
  Operator,
  QueueMemory,
  Request,
  RequestNotes,
  Site,
  Ticket,
  Visitor,
} from '../structures/state.ts';
import { newTicket, addTicket, removeTicket } from '../rules/tickets.ts';

/**
 * Puts stored rows on a board: all active rows when the board is loaded, or those that another process has changed since. None of
 * this is recorded as a change. Rows must be put in this order: sites, queues, operators, engagements, tickets, requests.
 */

export function putSite(board: Board, site: Site): void {
  board.sites.set(site.id, site);
  resetExpiry(board, site.id);
}

export interface StoredEngagement {
  readonly id: EngagementId;
  readonly request_id: RequestId;
  readonly ticket_id: TicketId | null;
  readonly queue_id: QueueId | null;
  readonly visitor_id: VisitorId;
  readonly lease_until: number | null;
  readonly asked_on_site_id: SiteId;
  readonly site_id: SiteId;
  readonly operator_id: OperatorId;
  readonly media: Medium;
  readonly sub_engagement_id: SubEngagementId;
  readonly sub_started_at: number;
  readonly highest_media: Medium | null;
  readonly operator_team_ids: readonly TeamId[] | null;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly by_phone: boolean;
  readonly heard_by: readonly string[];
  /** The current call. */
  readonly call: {
    readonly id: CallId;
    readonly sub_engagement_id: SubEngagementId;
    readonly started_at: number;
  } | null;
}

export function putEngagement(board: Board, row: StoredEngagement): void {
  if (row.ended_at !== null) return dropEngagement(board, row);
  const known = board.engagements.get(row.id);
  if (known !== undefined) removeEngagement(board, known);
  noteStart(board, row);
  const visitor = getOrAddVisitor(board, row.visitor_id, row.lease_until);
  const operator = operatorOn(board, row.operator_id);
  const current = {
    siteId: row.site_id,
    operator,
    medium: row.media,
    subEngagementId: row.sub_engagement_id,
    subStartedAt: row.sub_started_at,
    highestMedium: row.highest_media ?? row.media,
    operatorTeams: row.operator_team_ids,
    subscribers: row.heard_by,
    call: callOf(row),
  };
  const engagement: Engagement =
    known === undefined ? newEngagement(row, visitor, current) : Object.assign(known, current);
  addEngagement(board, engagement, 'free');
  scheduleLeaseDeadlines(board, visitor);
}

/** What a board must know of an engagement that has ended. */
export type EndedEngagement = Pick<StoredEngagement, 'id' | 'operator_id' | 'sub_started_at'>;

/** Removes an engagement that has ended. It may have begun since the board was last up to date. */
export function dropEngagement(board: Board, ended: EndedEngagement): void {
  const known = board.engagements.get(ended.id);
  if (known !== undefined) removeEngagement(board, known);
  noteStart(board, ended);
  if (known !== undefined) releaseVisitor(board, known.visitor);
}

function callOf({ id: engagementId, call }: StoredEngagement): Engagement['call'] {
  if (call === null) return null;
  const { id, sub_engagement_id: subEngagementId, started_at: startedAt } = call;
  return {
    id,
    engagementId,
    subEngagementId,
    startedAt,
    endedAt: null,
    endedBy: null,
    createdIn: null,
  };
}

/** D4.2: an engagement that began in another process counts for the idle time of its operator, even if it has ended. */
function noteStart(board: Board, { operator_id, sub_started_at }: EndedEngagement): void {
  const operator = board.operators.get(operator_id);
  if (operator !== undefined && operator.lastEngagedAt < sub_started_at) noteEngaged(board, operator, sub_started_at);
}

function newEngagement(
  row: StoredEngagement,
  visitor: Visitor,
  current: Pick<
    Engagement,
    | 'siteId'
    | 'operator'
    | 'medium'
    | 'subEngagementId'
    | 'subStartedAt'
    | 'highestMedium'
    | 'operatorTeams'
    | 'subscribers'
    | 'call'
  >,
): Engagement {
  return {
    id: row.id,
    endedAt: null,
    endReason: null,
    requestId: row.request_id,
    ticketId: row.ticket_id,
    queueId: row.queue_id,
    visitor,
    startedAt: row.started_at,
    askedOn: row.asked_on_site_id,
    byPhone: row.by_phone,
    transfer: null,
    createdIn: null,
    ...current,
  };
}

function operatorOn(board: Board, id: OperatorId): Operator {
  const operator = board.operators.get(id);
  if (operator === undefined) throw new Error(`the board has no operator ${id}`);
  return operator;
}

export interface StoredTicket {
  readonly id: TicketId;
  readonly seq: number;
  readonly kind: Ticket['kind'];
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly lease_until: number | null;
  readonly visitor_teams: readonly TeamId[];
  readonly media: Medium;
  readonly state: TicketState;
  readonly criteria: string;
  readonly narrowed_to: readonly TeamId[];
  readonly engagement_id: EngagementId | null;
  readonly never_to: OperatorId | null;
  readonly preferred_operator_id: OperatorId | null;
  readonly refusals: Readonly<Record<OperatorId, number>>;
  readonly queue_ids: readonly QueueId[];
  readonly entered_at: readonly number[];
  readonly enqueued_at: number;
  readonly notes: RequestNotes;
  readonly address_hash: string | null;
}

export function putTicket(board: Board, row: StoredTicket): void {
  if (row.state !== 'waiting' && row.state !== 'offered') return dropTicket(board, row.id);
  const known = board.tickets.get(row.id);
  if (known !== undefined) removeWithEntries(board, known);
  const ticket = known ?? ticketOf(board, row);
  ticket.state = row.state;
  ticket.medium = row.media;
  ticket.preferred = row.preferred_operator_id;
  const refusals = Object.entries(row.refusals) as [OperatorId, number][];
  ticket.refusals = refusals.length === 0 ? null : new Map(refusals);
  for (const [index, id] of row.queue_ids.entries())
    restoreEntry(board, ticket, id, row.entered_at[index] ?? row.enqueued_at);
  addTicket(board, ticket);
  if (ticket.engagement !== null) ticket.engagement.transfer = ticket;
  board.seq = Math.max(board.seq, row.seq);
  scheduleLeaseDeadlines(board, ticket.visitor);
}

/** Removes a ticket that has ended, if the board has it. */
export function dropTicket(board: Board, id: TicketId): void {
  const known = board.tickets.get(id);
  if (known === undefined) return;
  removeWithEntries(board, known);
  if (known.engagement?.transfer === known) known.engagement.transfer = null;
  releaseVisitor(board, known.visitor);
}

function ticketOf(board: Board, row: StoredTicket): Ticket {
  return newTicket({
    id: row.id,
    seq: row.seq,
    kind: row.kind,
    siteId: row.site_id,
    visitor: getOrAddVisitor(board, row.visitor_id, row.lease_until),
    medium: row.media,
    enqueuedAt: row.enqueued_at,
    criteria: row.criteria,
    visitorTeams: row.visitor_teams,
    narrowedTo: row.narrowed_to,
    engagement: row.kind === 'transfer' ? engagementOn(board, row.engagement_id) : null,
    neverTo: row.never_to,
    preferred: row.preferred_operator_id,
    notes: row.notes,
    address: row.address_hash,
    createdIn: null,
  });
}

function engagementOn(board: Board, id: EngagementId | null): Engagement {
  const engagement = id === null ? undefined : board.engagements.get(id);
  if (engagement === undefined) throw new Error(`the board has no engagement ${id ?? ''}`);
  return engagement;
}

function restoreEntry(board: Board, ticket: Ticket, id: QueueId, enteredAt: number): void {
  const queue = board.queues.get(id);
  if (queue === undefined) throw new Error(`the board has no queue ${id}`);
  const pool = poolForTicket(board, queue, ticket.narrowedTo);
  ticket.entries = including(ticket.entries, { queue, pool, enteredAt, held: false });
  pool.entryCount += 1;
  queue.visitors += 1;
}

/** Removes a ticket and its entries from the board, before it is put again or dropped. */
function removeWithEntries(board: Board, ticket: Ticket): void {
  if (ticket.state === 'waiting') removeFromLine(board, ticket);
  for (const { queue, pool } of ticket.entries) {
    queue.visitors -= 1;
    pool.entryCount -= 1;
  }
  ticket.entries = none;
  ticket.state = 'offered';
  removeTicket(board, ticket);
}

export interface StoredRequest {
  readonly id: RequestId;
  readonly kind: Request['kind'];
  readonly origin: Request['origin'];
  readonly state: Request['state'];
  readonly site_id: SiteId;
  readonly visitor_id: VisitorId;
  readonly lease_until: number | null;
  readonly operator_id: OperatorId;
  readonly media: Medium;
  readonly queue_id: QueueId | null;
  readonly ticket_id: TicketId | null;
  readonly engagement_id: EngagementId | null;
  readonly created_at: number;
  readonly timeout_ms: number;
  readonly notes: RequestNotes;
  readonly address_hash: string | null;
}

export function putRequest(board: Board, row: StoredRequest): void {
  if (row.state !== 'pending') return dropRequest(board, row.id);
  const known = board.requests.get(row.id);
  if (known === undefined) return addPendingRequest(board, row);
  known.timeoutMs = row.timeout_ms;
  board.deadlines.set(known.deadline, known.createdAt + known.timeoutMs);
  if (known.medium === row.media) return undefined;
  occupy(board, known.operator, known.medium, -1);
  known.medium = row.media;
  return occupy(board, known.operator, known.medium, 1);
}

/** Removes a request that has ended, if the board has it. */
export function dropRequest(board: Board, id: RequestId): void {
  const known = board.requests.get(id);
  if (known === undefined) return;
  removeRequest(board, known, 'free');
  if (known.ticket?.request === known) known.ticket.request = null;
  if (known.engagement?.transfer === known) known.engagement.transfer = null;
  releaseVisitor(board, known.visitor);
}

function addPendingRequest(board: Board, row: StoredRequest): void {
  const visitor = getOrAddVisitor(board, row.visitor_id, row.lease_until);
  const ticket = row.ticket_id === null ? null : (board.tickets.get(row.ticket_id) ?? null);
  const engagement = row.kind === 'transfer' ? engagementOn(board, row.engagement_id) : null;
  const request = newRequest({
    id: row.id,
    kind: row.kind,
    origin: row.origin,
    siteId: row.site_id,
    visitor,
    operator: operatorOn(board, row.operator_id),
    medium: row.media,
    queue: row.queue_id === null ? null : (board.queues.get(row.queue_id) ?? null),
    ticket,
    engagement,
    createdAt: row.created_at,
    timeoutMs: row.timeout_ms,
    notes: row.notes,
    address: row.address_hash,
    createdIn: null,
  });
  if (ticket !== null) ticket.request = request;
  else if (engagement !== null) engagement.transfer = request;
  addRequest(board, request);
  scheduleLeaseDeadlines(board, visitor);
}

/** Takes over a visitor's lease that another process has written. */
export function putVisitorLease(board: Board, id: VisitorId, leaseUntil: number | null): void {
  const visitor = board.visitors.get(id);
  if (visitor === undefined) return;
  visitor.leaseUntil = leaseUntil;
  scheduleLeaseDeadlines(board, visitor);
}

/** Takes over the state of a queue that another process has written. */
export function putQueueMemory(board: Board, id: QueueId, memory: QueueMemory): void {
  const queue = board.queues.get(id);
  if (queue !== undefined) Object.assign(queue.memory, memory);
}
