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
  type Engagement,
  type Operator,
  type Request,
  type RequestNotes,
  type Ticket,
  type Visitor,
} from '../structures/state.ts';
import { newTicket } from './tickets.ts';

/** Requests that one visitor may have pending, and one operator may have made: more would only ring everywhere. */
const mostPending = 10;
/** Those that last are counted by themselves: so many a visitor may have, and so many an operator may have made. */
const mostLasting = 10;
const mostLastingOfOperator = 1_000;
const lastingMs = smsRequestLifetimeHours * 3_600_000;

/** A visitor asks an operator, or an operator a visitor. */
export interface DirectRequest {
  readonly id: RequestId;
  readonly origin: 'visitor' | 'operator';
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly operatorId: OperatorId;
  readonly medium: Medium;
  readonly facts: VisitorFacts;
  readonly notes: RequestNotes;
  /** Of a visitor who is counted by address: the address, hashed. */
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
    timeoutMs: lasts ? lastingMs : origin === 'visitor' ? reactiveMs : proactiveMs,
    notes: command.notes,
    address: command.address,
  });
  scheduleLeaseDeadlines(board, visitor);
  return request;
}

function refusePending({ requests }: Visitor, lasts: boolean): void {
  const most = lasts ? mostLasting : mostPending;
  if (requests.filter((request) => isLasting(request) === lasts).length >= most)
    throw new Refusal('too_many', `The visitor has ${most} requests pending. Wait for their answers.`);
}

/** It is not occupied by them, so it needs no room; but it must be allowed to work. */
function requireFewLasting(operator: Operator): void {
  if (!operator.settings.enabled) throw unavailable(operator, 'is disabled');
  if (operator.requests.filter(isLasting).length >= mostLastingOfOperator)
    throw new Refusal('too_many', `The operator awaits ${mostLastingOfOperator} replies. Cancel some first.`);
}

/** Available, takes the medium, and has room for it (D4.4). */
function requireReady(operator: Operator, medium: Medium): void {
  if (operator.present && canTake(operator, medium)) return;
  const why = !operator.present
    ? 'is not available'
    : takes(operator.settings.media, medium)
      ? 'is busy'
      : `does not take ${medium}`;
  throw unavailable(operator, why);
}

/** Of one who asks: it need not be available, but it must be allowed to work. */
function requireRoom(operator: Operator, medium: Medium): void {
  if (!operator.settings.enabled) throw unavailable(operator, 'is disabled');
  if (!hasRoomFor(operator, medium)) throw unavailable(operator, 'has no room for another engagement');
}

function unavailable(operator: Operator, why: string): Refusal {
  return new Refusal('operator_unavailable', `The operator ${operator.settings.id} ${why}.`);
}

interface Transfer {
  readonly engagementId: EngagementId;
  /** The caller: only the current operator may hand the visitor on. */
  readonly by: OperatorId;
  readonly notes: RequestNotes;
}

export interface TransferToOperator extends Transfer {
  readonly id: RequestId;
  readonly operatorId: OperatorId;
  /** `null`: as it is. */
  readonly medium: Medium | null;
}

/** D5.4. The target is occupied from now on; the first operator stays until it accepts. */
export function transferToOperator(board: Board, command: TransferToOperator): Request {
  const engagement = transferable(board, command);
  const { siteId, visitor } = engagement;
  const medium = command.medium ?? engagement.medium;
  const operator = board.operators.get(command.operatorId);
  if (operator === undefined || !operator.settings.sites.has(siteId))
    throw invalid([{ attribute: '/operator_id', detail: 'is not an operator of the site' }]);
  if (operator === engagement.operator)
    throw invalid([{ attribute: '/operator_id', detail: 'is the operator who has the engagement already' }]);
  requireReady(operator, medium);
  const request = openRequest(board, {
    id: command.id,
    kind: 'transfer',
    origin: 'operator',
    siteId,
    visitor,
    operator,
    medium,
    engagement,
    timeoutMs: siteOf(board, siteId).reactiveMs,
    notes: command.notes,
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

/** The visitor waits in the queue, or where it falls back to, while the first operator stays. */
export function transferToQueue(board: Board, command: TransferToQueue): Ticket {
  const engagement = transferable(board, command);
  const queue = board.queues.get(command.queueId);
  if (queue === undefined) throw invalid([{ attribute: '/queue_id', detail: 'is not a queue of the account' }]);
  const applicant = { medium: command.medium, visitorTeams: command.facts.teams, narrowedTo: [] };
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
    narrowedTo: [],
    engagement,
    neverTo: engagement.operator.settings.id,
    preferred: null,
    notes: command.notes,
    address: null,
    createdIn: board.changes,
  });
  engagement.transfer = ticket;
  enterQueues(board, ticket, queues);
  return ticket;
}

/** An engagement of the caller's that goes on and is not being transferred. */
function transferable(board: Board, { engagementId, by }: Transfer): Engagement {
  const engagement = board.engagements.get(engagementId);
  if (engagement === undefined || engagement.operator.settings.id !== by) throw notFound('engagement', engagementId);
  if (engagement.transfer !== null)
    throw new Refusal('transfer_pending', `The transfer ${engagement.transfer.id} is under way. Cancel it first.`);
  return engagement;
}
