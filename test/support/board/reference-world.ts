import { media, type Medium } from '@usher/contract/media';
import type { EndReason, FailReason, TicketState } from '@usher/contract/states';
import type { Party } from '../../../packages/server/src/identity/party.ts';
import type {
  OperatorSettings,
  QueueMemory,
  QueueSettings,
  Site,
} from '../../../packages/server/src/routing/board/structures/state.ts';

/**
 * A second, naive implementation of the routing rules (D1–D5), with which the board is compared. It searches lists from end to
 * end and shares only the types of commands and settings with the board. This file has the state and what follows from it;
 * `reference.ts` has the commands.
 */
export interface World {
  now: number;
  readonly sites: Map<string, Site>;
  readonly queues: Queue[];
  readonly operators: Operator[];
  /** When the presence lease of each visitor ends. */
  readonly leases: Map<string, number | null>;
  /** All tickets, requests and engagements, also ended ones, in the order of creation. */
  readonly tickets: Ticket[];
  readonly requests: Request[];
  readonly engagements: Engagement[];
  /** Operators who may have become unavailable and must be checked. */
  readonly absent: Set<Operator>;
  /** Events and visits since the last comparison. */
  events: { readonly type: string; readonly about: unknown; readonly fields: unknown }[];
  visits: { readonly queue: string; readonly ticket: string; readonly enteredAt: number; readonly outcome: string }[];
  readonly newId: () => string;
}

export interface Queue extends QueueMemory {
  readonly id: string;
  settings: QueueSettings;
  /** Whether the queue is within its hours, and when that changes. */
  open: boolean;
  hoursAt: number | null;
}

export interface Operator {
  readonly id: string;
  settings: OperatorSettings;
  present: boolean;
  /** Whether the lease has not ended yet, at the last check. */
  leaseRuns: boolean;
  lastEngagedAt: number;
}

export interface Ticket {
  readonly id: string;
  readonly kind: 'visitor' | 'transfer';
  readonly siteId: string;
  readonly visitorId: string;
  medium: Medium;
  readonly enqueuedAt: number;
  readonly criteria: string;
  readonly visitorTeams: readonly string[];
  readonly requiredTeams: readonly string[];
  /** The engagement to transfer, and the operator who transfers it. */
  readonly engagement: Engagement | null;
  readonly excludedOperator: string | null;
  readonly address: string | null;
  preferred: string | null;
  readonly refusals: Map<string, number>;
  entries: { readonly queue: Queue; readonly enteredAt: number }[];
  state: TicketState;
  endedAt: number | null;
  request: Request | null;
  engagementId: string | null;
}

export interface Request {
  readonly id: string;
  readonly kind: 'ticket' | 'direct' | 'transfer';
  readonly origin: 'visitor' | 'operator';
  readonly siteId: string;
  readonly visitorId: string;
  readonly operator: Operator;
  medium: Medium;
  readonly queue: Queue | null;
  readonly ticket: Ticket | null;
  engagement: Engagement | null;
  readonly createdAt: number;
  timeoutMs: number;
  /** A request by SMS, which waits for a reply for days. */
  readonly lasting: boolean;
  readonly address: string | null;
  state: 'pending' | 'accepted' | 'failed';
  failReason: FailReason | null;
  endedAt: number | null;
}

export interface Engagement {
  readonly id: string;
  readonly request: Request;
  readonly visitorId: string;
  readonly startedAt: number;
  subId: string;
  subStartedAt: number;
  siteId: string;
  readonly askedOn: string;
  operator: Operator;
  medium: Medium;
  subscribers: readonly string[];
  transfer: Request | Ticket | null;
  endedAt: number | null;
  endReason: EndReason | null;
  /** Oldest first; only the last can be active. */
  calls: readonly Call[];
}

interface Call {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly endedBy: 'visitor' | 'operator' | null;
}

/** Starts or ends a call after the medium changed. A call continues when audio becomes video. */
export function followMedium(world: World, engagement: Engagement, endedBy: Call['endedBy'] = null): void {
  const isCall = ['audio', 'video'].includes(engagement.medium) && engagement.endedAt === null;
  const wasCall = engagement.calls.at(-1)?.endedAt === null;
  if (isCall && !wasCall)
    engagement.calls = [...engagement.calls, { startedAt: world.now, endedAt: null, endedBy: null }];
  if (!isCall && wasCall) finishCall(world, engagement, endedBy);
}

export function finishCall(world: World, engagement: Engagement, endedBy: Call['endedBy']): void {
  engagement.calls = engagement.calls.map((call) =>
    call.endedAt === null ? { ...call, endedAt: world.now, endedBy } : call,
  );
}

export function newWorld(newId: () => string): World {
  return {
    now: 0,
    sites: new Map(),
    queues: [],
    operators: [],
    leases: new Map(),
    tickets: [],
    requests: [],
    engagements: [],
    absent: new Set(),
    events: [],
    visits: [],
    newId,
  };
}

export function isActive({ state }: Ticket): boolean {
  return state === 'waiting' || state === 'offered';
}

export function activeTickets({ tickets }: World): Ticket[] {
  return tickets.filter(isActive);
}

/** Sorted by creation, then by id. */
export function pending({ requests }: World): Request[] {
  return requests
    .filter(({ state }) => state === 'pending')
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

export function ongoing({ engagements }: World): Engagement[] {
  return engagements.filter(({ endedAt }) => endedAt === null);
}

export function siteOf(world: World, id: string): Site {
  const site = world.sites.get(id);
  if (site === undefined) throw new Error(`there is no site ${id}`);
  return site;
}

/** D2.2. */
export function visitorsIn(world: World, queue: Queue): Ticket[] {
  return activeTickets(world).filter((ticket) => isIn(ticket, queue));
}

export function isIn({ entries }: Ticket, queue: Queue): boolean {
  return entries.some((entry) => entry.queue === queue);
}

export function lineOf(world: World, queue: Queue): Ticket[] {
  return visitorsIn(world, queue).filter(({ state }) => state === 'waiting');
}

/** D3.7: the best position in any of its queues. */
export function positionOf(world: World, ticket: Ticket): number | null {
  if (ticket.state !== 'waiting') return null;
  return Math.min(...ticket.entries.map(({ queue }) => lineOf(world, queue).indexOf(ticket) + 1));
}

export function estimateOf(world: World, ticket: Ticket): number | null {
  if (ticket.state === 'offered') return 0;
  if (ticket.state !== 'waiting') return null;
  const known = ticket.entries.flatMap(({ queue }) => {
    const pool = present(world, queue, ticket.requiredTeams);
    if (queue.paceMs === null || !pool.some((each) => takes(each.settings.media, ticket.medium))) return [];
    return [(lineOf(world, queue).indexOf(ticket) + 1) * queue.paceMs];
  });
  return known.length === 0 ? null : Math.min(...known);
}

export function takes(set: number, medium: Medium): boolean {
  return Math.floor(set / 2 ** media.indexOf(medium)) % 2 === 1;
}

/** Whether the operator is assigned to the queue's site and is in the right teams there. */
function belongs(operator: Operator, { settings }: Queue, requiredTeams: readonly string[]): boolean {
  const teams: ReadonlySet<string> | undefined = operator.settings.sites.get(settings.siteId);
  if (teams === undefined) return false;
  return [settings.teams, requiredTeams].every(
    (allowed) => allowed.length === 0 || allowed.some((team) => teams.has(team)),
  );
}

function present(world: World, queue: Queue, requiredTeams: readonly string[]): Operator[] {
  return world.operators.filter((operator) => operator.present && belongs(operator, queue, requiredTeams));
}

/** D2.1, limited to the teams of a ticket. */
function staffOf(world: World, queue: Queue, requiredTeams: readonly string[]): Operator[] {
  const { settings } = queue;
  return present(world, queue, requiredTeams).filter((operator) =>
    media.some((medium) => takes(operator.settings.media, medium) && takes(settings.media, medium)),
  );
}

/** D1.2. */
export function statusIgnoringCapacity(world: World, queue: Queue): Queue['lastStatus'] {
  if (!queue.open) return 'closed';
  const isUnstaffed = staffOf(world, queue, []).length === 0;
  return isUnstaffed && queue.settings.whenUnstaffed === 'reject' ? 'unstaffed' : 'opened';
}

/** D2.5. */
function capacityOf(world: World, queue: Queue): number {
  const { capacityPolicy: policy } = queue.settings;
  return policy.type === 'fixed' ? policy.capacity : Math.floor(policy.multiplier * staffOf(world, queue, []).length);
}

export interface Applicant {
  readonly medium: Medium;
  readonly visitorTeams: readonly string[];
  readonly requiredTeams: readonly string[];
}

/** Why a queue rejects a visitor (D1.2, D1.6, D3.2); the highest index is reported (D3.3). 0: the queue admits them. */
export const codes = ['', 'no_matching_queue', 'queue_closed', 'queue_unstaffed', 'queue_full'] as const;

export function obstacleOf(world: World, queue: Queue, { medium, visitorTeams, requiredTeams }: Applicant): number {
  const { teams, media: taken, whenUnstaffed } = queue.settings;
  if (!takes(taken, medium)) return 1;
  if (teams.length > 0 && !teams.some((team) => visitorTeams.includes(team))) return 1;
  const status = statusIgnoringCapacity(world, queue);
  if (status !== 'opened') return status === 'closed' ? 2 : 3;
  if (visitorsIn(world, queue).length >= capacityOf(world, queue)) return 4;
  const pool = staffOf(world, queue, requiredTeams);
  if (pool.length === 0) return whenUnstaffed === 'accept' ? 0 : 3;
  return pool.some((operator) => takes(operator.settings.media, medium)) ? 0 : 3;
}

/** The queue, its fallback, the fallback's fallback and so on, each once. */
export function chainOf(world: World, queue: Queue): Queue[] {
  const chain: Queue[] = [];
  let link: Queue | undefined = queue;
  while (link !== undefined && !chain.includes(link)) {
    chain.push(link);
    const { fallbackId }: QueueSettings = link.settings;
    link = world.queues.find(({ id }) => id === fallbackId);
  }
  return chain;
}

export interface Match {
  readonly ticket: Ticket;
  readonly queue: Queue;
  readonly operator: Operator;
}

/** D4: the longest waiting ticket that can be offered, with the best operator for it. */
export function nextMatch(world: World): Match | undefined {
  for (const ticket of world.tickets) {
    if (ticket.state !== 'waiting') continue;
    const matches = ticket.entries.flatMap(({ queue }) =>
      world.operators.map((operator) => ({ ticket, queue, operator })).filter((each) => isPossible(world, each)),
    );
    const [best] = matches.toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) ||
        loadOf(world, a.operator).length - loadOf(world, b.operator).length ||
        a.operator.lastEngagedAt - b.operator.lastEngagedAt ||
        (a.operator === b.operator ? 0 : a.operator.id < b.operator.id ? -1 : 1),
    );
    if (best !== undefined) return best;
  }
  return undefined;
}

function rankOf({ queue: { settings }, operator }: Match): number {
  return settings.rankingEnabled ? (settings.ranks.get(operator.settings.id) ?? 10) : 10;
}

function isPossible(world: World, match: Match): boolean {
  const { ticket, operator } = match;
  if (!isCandidate(world, match) || !hasRoom(world, operator, ticket.medium) || operator.id === ticket.excludedOperator)
    return false;
  return !(hasRefused(world, ticket, operator) && hasOtherCandidates(world, ticket));
}

/** Whether the operator could take the ticket if they had room; a hold for another operator excludes them (D4.3). */
function isCandidate(world: World, { ticket, queue, operator }: Match): boolean {
  if (!operator.present || !takes(operator.settings.media, ticket.medium)) return false;
  const holder = heldFor(world, ticket, queue);
  return belongs(operator, queue, ticket.requiredTeams) && (holder === undefined || holder === operator);
}

/** D4.3: the operator for whom the queue holds the ticket. */
function heldFor(world: World, { preferred, enqueuedAt, requiredTeams }: Ticket, queue: Queue): Operator | undefined {
  const { affinityMs } = queue.settings;
  if (affinityMs === null || enqueuedAt + affinityMs <= world.now) return undefined;
  return world.operators.find(
    (each) => each.id === preferred && each.settings.enabled && belongs(each, queue, requiredTeams),
  );
}

/** D4.5. */
function hasRefused(world: World, { refusals }: Ticket, { id }: Operator): boolean {
  return (refusals.get(id) ?? 0) > world.now;
}

function hasOtherCandidates(world: World, ticket: Ticket): boolean {
  return world.operators.some(
    (operator) =>
      operator.id !== ticket.excludedOperator &&
      !hasRefused(world, ticket, operator) &&
      ticket.entries.some(({ queue }) => isCandidate(world, { ticket, queue, operator })),
  );
}

/** D4.4. */
export function hasRoom(world: World, operator: Operator, medium: Medium): boolean {
  const load = loadOf(world, operator);
  if (load.some((each) => each !== 'text')) return false;
  return medium === 'text' ? load.length < operator.settings.maxEngagements : load.length === 0;
}

/** The media of the operator's engagements and pending requests. */
export function loadOf(world: World, operator: Operator): Medium[] {
  return [...pending(world).filter(({ lasting }) => !lasting), ...ongoing(world)]
    .filter((each) => each.operator === operator)
    .map(({ medium }) => medium);
}

export function isParty(
  { visitorId, operator }: Pick<Request, 'visitorId' | 'operator'>,
  { kind, id }: Party,
): boolean {
  return kind === 'visitor' ? visitorId === id : operator.id === id;
}

/** A refusal; the message is its code. */
export class ReferenceRefusal extends Error {}
