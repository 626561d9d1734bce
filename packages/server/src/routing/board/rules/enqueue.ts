import type { Medium } from '@usher/contract/media';
import { invalid, Refusal } from '../../../platform/errors.ts';
import type { OperatorId, QueueId, SiteId, TeamId, TicketId, VisitorId } from '../../../platform/ids.ts';
import { refuseFullAddress } from './addresses.ts';
import { resolve } from './admission.ts';
import { siteOf, getOrAddVisitor, type Board } from '../board.ts';
import { none } from '../structures/short-lists.ts';
import { isOn } from './engagements.ts';
import { enterQueue } from '../structures/lines.ts';
import { scheduleLeaseDeadlines, startInitialLease } from './presence.ts';
import { newTicket, type Queue, type RequestNotes, type Ticket, type Visitor } from '../structures/state.ts';
import { addTicket } from './tickets.ts';

/** What the database knows of the visitor of a command. */
export interface VisitorFacts {
  /** The site that the visitor is on now. */
  readonly siteId: SiteId;
  readonly teams: readonly TeamId[];
  readonly leaseUntil: number | null;
  /** The operator who last engaged the visitor. */
  readonly lastOperatorId: OperatorId | null;
}

export interface Enqueue {
  readonly id: TicketId;
  readonly siteId: SiteId;
  readonly visitorId: VisitorId;
  readonly medium: Medium;
  /** `null`: every queue of the site. */
  readonly queueIds: readonly QueueId[] | null;
  readonly requiredTeams: readonly TeamId[];
  readonly facts: VisitorFacts;
  readonly notes: RequestNotes;
  /** The hashed address of a visitor who is counted by address; otherwise `null`. */
  readonly address: string | null;
}

/** D3: returns the visitor's ticket, which may be their active one (D3.4). */
export function enqueue(board: Board, command: Enqueue): { ticket: Ticket; created: boolean } {
  const named = namedQueue(board, command);
  const criteria = criteriaOf(command, named);
  const known = board.visitors.get(command.visitorId);
  const active = known === undefined ? undefined : activeTicket(known, command.siteId);
  if (active !== undefined) {
    if (active.criteria === criteria) return { ticket: active, created: false };
    throw new Refusal(
      'ticket_conflict',
      `The visitor already has the active ticket ${active.id} with other criteria. Cancel that ticket first.`,
    );
  }
  if (known !== undefined) refuseEngaged(known, command.siteId);
  const candidates = named === undefined ? candidatesOf(board, command) : [named];
  refuseFullAddress(board, command);
  const applicant = { medium: command.medium, visitorTeams: command.facts.teams, requiredTeams: command.requiredTeams };
  const queues = resolve(board, candidates, applicant, command.queueIds === null ? ofRequest : ofQueue);
  const visitor = getOrAddVisitor(board, command.visitorId, command.facts.leaseUntil);
  const ticket = newTicket({
    id: command.id,
    seq: (board.seq += 1),
    kind: 'visitor',
    siteId: command.siteId,
    visitor,
    medium: command.medium,
    enqueuedAt: board.now,
    criteria,
    visitorTeams: command.facts.teams,
    requiredTeams: command.requiredTeams.length === 0 ? none : command.requiredTeams,
    engagement: null,
    excludedOperator: null,
    preferred: command.facts.lastOperatorId,
    notes: command.notes,
    address: command.address,
    createdIn: board.changes,
  });
  enterQueues(board, ticket, queues);
  if (siteOf(board, ticket.siteId).ticketNeedsPresence) startInitialLease(board, visitor);
  return { ticket, created: true };
}

/** Adds a ticket to its queues and to the board. */
export function enterQueues(board: Board, ticket: Ticket, queues: readonly Queue[]): void {
  for (const queue of queues) enterQueue(board, ticket, queue);
  addTicket(board, ticket);
  scheduleLeaseDeadlines(board, ticket.visitor);
}

/** The common case is a ticket for one queue and any operator. All such tickets of a queue share one text. */
function criteriaOf(command: Enqueue, named: Queue | undefined): string {
  if (named === undefined || command.requiredTeams.length > 0) return describeCriteria(command);
  return (named.criteria[command.medium] ??= describeCriteria(command));
}

/** The queue of the site that the command names, if it names one alone. */
function namedQueue(board: Board, { siteId, queueIds }: Enqueue): Queue | undefined {
  const id = queueIds?.length === 1 ? queueIds[0] : undefined;
  const queue = id === undefined ? undefined : board.queues.get(id);
  return queue?.settings.siteId === siteId ? queue : undefined;
}

function describeCriteria({ medium, queueIds, requiredTeams }: Enqueue): string {
  return `${medium} ${queueIds === null ? '*' : sorted(queueIds)} ${sorted(requiredTeams)}`;
}

function sorted(ids: readonly string[]): string {
  return ids.length < 2 ? (ids[0] ?? '') : [...new Set(ids)].toSorted().join();
}

function activeTicket(visitor: Visitor, siteId: SiteId): Ticket | undefined {
  return visitor.tickets.find((ticket) => ticket.kind === 'visitor' && ticket.siteId === siteId);
}

export function refuseEngaged(visitor: Visitor, siteId: SiteId): void {
  const engagement = visitor.engagements.find((each) => isOn(each, siteId));
  if (engagement === undefined) return;
  throw new Refusal(
    'already_engaged',
    `The visitor is in the engagement ${engagement.id} on this site. End that engagement first.`,
  );
}

function candidatesOf(board: Board, { siteId, queueIds }: Enqueue): readonly Queue[] {
  if (queueIds === null) return [...board.queues.values()].filter((queue) => queue.settings.siteId === siteId);
  const candidates: Queue[] = [];
  for (const id of queueIds) {
    const queue = board.queues.get(id);
    if (queue?.settings.siteId === siteId) candidates.push(queue);
  }
  if (candidates.length < queueIds.length) throw notQueuesOfSite(board, siteId, queueIds);
  return candidates;
}

function notQueuesOfSite(board: Board, siteId: SiteId, queueIds: readonly QueueId[]): Error {
  const isMissing = (id: QueueId): boolean => board.queues.get(id)?.settings.siteId !== siteId;
  const detail = 'is not a queue of the site';
  return invalid(queueIds.flatMap((id, index) => (isMissing(id) ? [{ attribute: ofQueue(index), detail }] : [])));
}

/** Which field a violation is about: the queue with this index, or the whole request if it names no queues. */
function ofQueue(index: number): string {
  return `/queue_ids/${index}`;
}

function ofRequest(): string {
  return '';
}
