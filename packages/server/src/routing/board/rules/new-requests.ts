import { smsRequestLifetimeHours } from '@usher/contract/limits';
import type { Medium } from '@usher/contract/media';
import { invalid, notFound, Refusal } from '../../../platform/errors.ts';
import type {
  EngagementId,
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  TicketId,
  VisitorId,
} from '../../../platform/ids.ts';
import { resolve } from './admission.ts';
import { refuseFullAddress } from './addresses.ts';
import { siteOf, getOrAddVisitor, type Board } from '../board.ts';
import { enterQueues, refuseEngaged, type VisitorFacts } from './enqueue.ts';
import { canTake, hasRoomFor } from '../structures/free-operators.ts';
import { takes } from '../structures/media.ts';
import { scheduleLeaseDeadlines } from './presence.ts';
import { openRequest } from './requests.ts';
import {
  isLasting,
  newTicket,
  type Engagement,
  type Operator,
  type Request,
  type RequestNotes,
  type Ticket,
  type Visitor,
} from '../structures/state.ts';

/** The limit on pending requests of a visitor, so that one visitor does not ring everywhere. */
const maxPending = 10;
/** Lasting requests have limits of their own: per visitor, and per operator who sent them. */
const maxLasting = 10;
const maxLastingOfOperator = 1_000;
const lastingMs = smsRequestLifetimeHours * 3_600_000;

/** A request from a visitor to an operator, or from an operator to a visitor. */
export interface DirectRequest {
  readonly id: RequestId;
  readonly origin: 'visitor' | 'operator';
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  readonly medium: Medium;
  readonly facts: VisitorFacts;
  readonly notes: RequestNotes;
  /** The hashed address of a visitor who is counted by address; otherwise `null`. */
  readonly address: string | null;
}

export function requestDirectly(board: Board, command: DirectRequest): Request {
  const { origin, siteId, medium } = command;
  const operator = board.operators.get(command.operatorId);
  if (operator === undefined || !operator.settings.sites.has(siteId))
    throw invalid([{ attribute: '/operator_id', detail: 'is not an operator of the site' }]);
  if (command.facts.siteId !== siteId)
    throw invalid([{ attribute: '/visitor_id', detail: 'is not a visitor on the site' }]);
  const known = board.visitors.get(command.visitorId);
  const lasts = isLasting({ kind: 'direct', notes: command.notes });
  if (known !== undefined) {
    refuseEngaged(known, siteId);
    refusePending(known, lasts);
  }
  refuseFullAddress(board, command);
  if (lasts) requireFewLasting(operator);
  else if (origin === 'visitor') requireReady(operator, medium);
  else requireRoom(operator, medium);
  const visitor = getOrAddVisitor(board, command.visitorId, command.facts.leaseUntil);
  const { reactiveMs, proactiveMs } = siteOf(board, siteId);
  const request = openRequest(board, {
    id: command.id,
    kind: 'direct',
    origin,
    siteId,
    visitor,
    operator,
    medium,
    queue: null,
    ticket: null,
    engagement: null,
    timeoutMs: lasts ? lastingMs : origin === 'visitor' ? reactiveMs : proactiveMs,
    notes: command.notes,
    address: command.address,
  });
  scheduleLeaseDeadlines(board, visitor);
  return request;
}

function refusePending({ requests }: Visitor, lasts: boolean): void {
  const limit = lasts ? maxLasting : maxPending;
  if (requests.filter((request) => isLasting(request) === lasts).length >= limit)
    throw new Refusal('too_many', `The visitor has ${limit} pending requests, the limit. Wait for an answer.`);
}

/** A lasting request does not occupy the operator, so they need no free capacity; but they must be enabled. */
function requireFewLasting(operator: Operator): void {
  if (!operator.settings.enabled) throw unavailable(operator, 'is disabled');
  if (operator.requests.filter(isLasting).length >= maxLastingOfOperator)
    throw new Refusal(
      'too_many',
      `The operator waits for ${maxLastingOfOperator} replies, the limit. Cancel some of these requests first.`,
    );
}

/** The invited operator must be available, take the medium, and have free capacity for it (D4.4). */
function requireReady(operator: Operator, medium: Medium): void {
  if (operator.present && canTake(operator, medium)) return;
  const why = !operator.present
    ? 'is not available'
    : takes(operator.settings.media, medium)
      ? 'is busy'
      : `does not take ${medium}`;
  throw unavailable(operator, why);
}

/** The operator who asks need not be available, but must be enabled and have free capacity. */
function requireRoom(operator: Operator, medium: Medium): void {
  if (!operator.settings.enabled) throw unavailable(operator, 'is disabled');
  if (!hasRoomFor(operator, medium)) throw unavailable(operator, 'cannot take another engagement');
}

function unavailable(operator: Operator, why: string): Refusal {
  return new Refusal('operator_unavailable', `The operator ${operator.settings.id} ${why}.`);
}

interface Transfer {
  readonly engagementId: EngagementId;
  /** The caller: only the current operator may transfer the engagement. */
  readonly by: OperatorId;
  readonly notes: RequestNotes;
}

export interface TransferToOperator extends Transfer {
  readonly id: RequestId;
  readonly operatorId: OperatorId;
  /** `null`: the current medium. */
  readonly medium: Medium | null;
}

/** D5.4: the target is occupied from now on; the first operator stays until the target accepts. */
export function transferToOperator(board: Board, command: TransferToOperator): Request {
  const engagement = transferable(board, command);
  const { siteId, visitor } = engagement;
  const medium = command.medium ?? engagement.medium;
  const operator = board.operators.get(command.operatorId);
  if (operator === undefined || !operator.settings.sites.has(siteId))
    throw invalid([{ attribute: '/operator_id', detail: 'is not an operator of the site' }]);
  if (operator === engagement.operator)
    throw invalid([{ attribute: '/operator_id', detail: 'is already the operator of the engagement' }]);
  requireReady(operator, medium);
  const request = openRequest(board, {
    id: command.id,
    kind: 'transfer',
    origin: 'operator',
    siteId,
    visitor,
    operator,
    medium,
    queue: null,
    ticket: null,
    engagement,
    timeoutMs: siteOf(board, siteId).reactiveMs,
    notes: command.notes,
    address: null,
  });
  engagement.transfer = request;
  return request;
}

export interface TransferToQueue extends Transfer {
  readonly id: TicketId;
  readonly queueId: QueueId;
  readonly medium: Medium;
  readonly facts: VisitorFacts;
}

/** D5.4: the visitor waits in the queue or in one of its fallbacks; the first operator stays until another accepts. */
export function transferToQueue(board: Board, command: TransferToQueue): Ticket {
  const engagement = transferable(board, command);
  const queue = board.queues.get(command.queueId);
  if (queue === undefined) throw invalid([{ attribute: '/queue_id', detail: 'is not a queue of the account' }]);
  const applicant = { medium: command.medium, visitorTeams: command.facts.teams, requiredTeams: [] };
  const queues = resolve(board, [queue], applicant, () => '/queue_id');
  const ticket = newTicket({
    id: command.id,
    seq: (board.seq += 1),
    kind: 'transfer',
    siteId: queue.settings.siteId,
    visitor: engagement.visitor,
    medium: command.medium,
    enqueuedAt: board.now,
    criteria: '',
    visitorTeams: command.facts.teams,
    requiredTeams: [],
    engagement,
    excludedOperator: engagement.operator.settings.id,
    preferred: null,
    notes: command.notes,
    address: null,
    createdIn: board.changes,
  });
  engagement.transfer = ticket;
  enterQueues(board, ticket, queues);
  return ticket;
}

/** An active engagement of the caller without a pending transfer. */
function transferable(board: Board, { engagementId, by }: Transfer): Engagement {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || engagement.operator.settings.id !== by) throw notFound('engagement', engagementId);
  if (engagement.transfer !== null)
    throw new Refusal(
      'transfer_pending',
      `The engagement has the pending transfer ${engagement.transfer.id}. Cancel that transfer first.`,
    );
  return engagement;
}
