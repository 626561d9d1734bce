import type { Command } from '../../../packages/server/src/routing/board/commands.ts';
import {
  expiresAt,
  updateHours,
  updatePresence,
  reroute,
  endTicket,
  offer,
  createRequest,
  fail,
  failAndRequeue,
  start,
  completeTransfer,
  endEngagement,
  dropTransfer,
} from './reference-transitions.ts';
import { graceMs, renewPresence, setVisitorLease } from './reference-presence.ts';
import { acceptUpgrade, endCall } from './reference-upgrade.ts';
import {
  activeTickets,
  chainOf,
  codes,
  hasRoom,
  lineOf,
  isParty,
  nextMatch,
  ReferenceRefusal,
  obstacleOf,
  ongoing,
  pending,
  siteOf,
  statusIgnoringCapacity,
  takes,
  type Applicant,
  type Engagement,
  type Operator,
  type Queue,
  type Request,
  type Ticket,
  type World,
} from './reference-world.ts';
import type { OperatorSettings, QueueSettings } from '../../../packages/server/src/routing/board/structures/state.ts';

/** The commands and deadlines of the reference: the naive counterpart of `commands.ts`. */

const lastingMs = 259_200_000;

export function configureQueue(world: World, settings: QueueSettings): void {
  const known = world.queues.find(({ id }) => id === settings.id);
  const memory = { lastStatus: 'opened', waits: [], paceMs: null, leftOthersAt: null } as const;
  const queue: Queue = known ?? { id: settings.id, settings, open: true, hoursAt: null, ...memory, waits: [] };
  if (known === undefined) world.queues.push(queue);
  queue.settings = settings;
  updateHours(world, queue);
}

export function configureOperator(world: World, settings: OperatorSettings): void {
  const known = world.operators.find(({ id }) => id === settings.id);
  const operator = known ?? { id: settings.id, settings, present: false, leaseRuns: false, lastEngagedAt: 0 };
  if (known === undefined) world.operators.push(operator);
  operator.settings = settings;
  updatePresence(world, operator);
  world.absent.add(operator);
}

/** Returns the ticket, request or engagement that was created or changed; `null` if the caller can see none. */
export function act(world: World, command: Command, now: number): { readonly id: string } | null {
  world.now = now;
  for (let due = nextDue(world); due !== undefined; due = nextDue(world)) due.run();
  settle(world);
  const result = execute(world, command);
  settle(world);
  return result;
}

function execute(world: World, command: Command): { readonly id: string } | null {
  switch (command.name) {
    case 'enqueue':
      return enqueue(world, command);
    case 'cancelTicket':
      return cancelTicket(world, command);
    case 'requestDirectly':
      return requestDirectly(world, command);
    case 'answer':
      return answer(world, command);
    case 'transferToOperator':
      return transferToOperator(world, command);
    case 'transferToQueue':
      return transferToQueue(world, command);
    case 'answerTransfer':
      return answerTransfer(world, command);
    case 'end':
      return end(world, command);
    case 'acceptUpgrade':
      return acceptUpgrade(world, command);
    case 'endCall':
      return endCall(world, command);
    case 'setPresence':
      return setPresence(world, command);
    case 'setVisitorPresence':
      setVisitorLease(world, command.visitorId, command.leaseMs);
      return null;
    case 'renewPresence':
      renewPresence(world, command);
      return null;
    case 'tick':
    // upgrading.test.ts tests the check.
    case 'checkCall':
    case 'viewTicket':
    case 'viewTickets':
    case 'viewRequests':
      return null;
  }
}

interface Due {
  readonly at: number;
  readonly kind: number;
  readonly id: string;
  readonly run: () => void;
}

/** The earliest deadline that is due. */
export function nextDue(world: World): Due | undefined {
  const found: Due[] = [
    ...world.queues.map((queue) => ({ at: queue.hoursAt ?? Infinity, kind: 0, id: queue.id, run: () => updateHours(world, queue) })), // prettier-ignore
    ...world.operators.flatMap((operator) => duesOfOperator(world, operator)),
    ...Array.from(world.leases, ([id, leaseUntil]) => (leaseUntil === null ? [] : duesOfVisitor(world, id, leaseUntil))).flat(), // prettier-ignore
    ...pending(world).map((request) => ({ at: request.createdAt + request.timeoutMs, kind: 5, id: request.id, run: () => timeOut(world, request) })), // prettier-ignore
    ...activeTickets(world).flatMap((ticket) => dueOfTicket(world, ticket)),
  ];
  return found
    .filter(({ at }) => at <= world.now)
    .toSorted((a, b) => a.at - b.at || a.kind - b.kind || (a.id < b.id ? -1 : 1))
    .at(0);
}

function duesOfOperator(world: World, operator: Operator): Due[] {
  const { id, settings, leaseRuns } = operator;
  const { leaseUntil } = settings;
  if (leaseUntil === null) return [];
  const lost = ongoing(world).filter((each) => each.operator === operator && each.subStartedAt < leaseUntil);
  const endThem = (): void => lost.forEach((each) => endEngagement(world, each, 'operator_left'));
  return [
    ...(leaseRuns ? [{ at: leaseUntil, kind: 1, id, run: () => updatePresence(world, operator) }] : []),
    ...(lost.length > 0 ? [{ at: leaseUntil + graceMs, kind: 3, id, run: endThem }] : []),
  ];
}

/** The end of a lease affects only what began before it. */
function duesOfVisitor(world: World, id: string, leaseUntil: number): Due[] {
  const tickets = activeTickets(world).filter(
    ({ kind, visitorId, enqueuedAt }) => kind === 'visitor' && visitorId === id && enqueuedAt < leaseUntil,
  );
  const requests = pending(world).filter(
    ({ kind, visitorId, createdAt, lasting }) =>
      kind === 'direct' && visitorId === id && createdAt < leaseUntil && !lasting,
  );
  const lost = ongoing(world).filter(
    ({ visitorId, startedAt, request }) => visitorId === id && startedAt < leaseUntil && !request.lasting,
  );
  const leave = (): void => {
    for (const ticket of tickets) {
      if (ticket.request !== null) fail(world, ticket.request, 'visitor_left');
      endTicket(world, ticket, 'visitor_left');
    }
    for (const request of requests) fail(world, request, 'visitor_left');
  };
  const endThem = (): void => lost.forEach((each) => endEngagement(world, each, 'visitor_left'));
  return [
    ...(tickets.length + requests.length > 0 ? [{ at: leaseUntil, kind: 2, id, run: leave }] : []),
    ...(lost.length > 0 ? [{ at: leaseUntil + graceMs, kind: 4, id, run: endThem }] : []),
  ];
}

/** D3.6: an offered ticket does not expire; it ends if the offer fails. */
function dueOfTicket(world: World, ticket: Ticket): Due[] {
  if (ticket.state !== 'waiting') return [];
  // Tickets of one site expire in the order of their arrival.
  const id = `${ticket.siteId} ${String(world.tickets.indexOf(ticket)).padStart(9, '0')}`;
  return [{ at: expiresAt(world, ticket), kind: 6, id, run: () => endTicket(world, ticket, 'expired') }];
}

/** D4.5: an operator who misses a request may become unavailable. */
function timeOut(world: World, request: Request): void {
  failAndRequeue(world, request, 'timed_out');
  const { operator } = request;
  if (!isInvited(request) || !siteOf(world, request.siteId).missedMakesUnavailable) return;
  if (!operator.settings.available) return;
  operator.settings = { ...operator.settings, available: false };
  updatePresence(world, operator);
}

/** Whether the operator is the one who must answer the request. */
function isInvited({ kind, origin }: Request): boolean {
  return kind === 'transfer' || origin === 'visitor';
}

function settle(world: World): void {
  for (const operator of [...world.absent].toSorted((a, b) => (a.id < b.id ? -1 : 1))) leave(world, operator);
  world.absent.clear();
  const changed = world.queues.filter((queue) => queue.lastStatus !== statusIgnoringCapacity(world, queue));
  for (const queue of changed) queue.lastStatus = statusIgnoringCapacity(world, queue);
  for (const queue of changed.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    if (queue.lastStatus !== 'opened') for (const ticket of lineOf(world, queue)) reroute(world, ticket, queue);
  for (let match = nextMatch(world); match !== undefined; match = nextMatch(world)) offer(world, match);
}

function leave(world: World, operator: Operator): void {
  const { enabled, leaseUntil, sites } = operator.settings;
  const isLost = ({ createdAt, lasting }: Request): boolean =>
    !enabled || (!lasting && leaseUntil !== null && leaseUntil <= world.now && createdAt < leaseUntil);
  for (const request of pending(world).filter((each) => each.operator === operator))
    if (
      !Array.from(sites.keys()).some((id) => id === request.siteId) ||
      (!operator.present && (isInvited(request) || isLost(request)))
    )
      failAndRequeue(world, request, 'operator_left');
  for (const engagement of ongoing(world).filter((each) => each.operator === operator))
    if (!Array.from(sites.keys()).some((id) => id === engagement.siteId))
      endEngagement(world, engagement, 'operator_left');
}

function enqueue(world: World, command: Command<'enqueue'>): Ticket {
  const { id, siteId, visitorId, medium, queueIds, requiredTeams, facts } = command;
  const unique = (ids: readonly string[]): string[] => [...new Set(ids)].toSorted();
  const criteria = JSON.stringify([medium, queueIds === null ? null : unique(queueIds), unique(requiredTeams)]);
  const active = activeTickets(world).find(
    (each) => each.kind === 'visitor' && each.visitorId === visitorId && each.siteId === siteId,
  );
  if (active?.criteria === criteria) return active;
  if (active !== undefined) throw new ReferenceRefusal('ticket_conflict');
  refuseEngaged(world, visitorId, siteId);
  const onSite = world.queues.filter((queue) => queue.settings.siteId === siteId);
  const named = queueIds?.map((queueId) => onSite.find((queue) => queue.id === queueId)) ?? onSite;
  if (named.includes(undefined)) throw new ReferenceRefusal('invalid_request');
  const candidates = named.filter((queue) => queue !== undefined);
  refuseFullAddress(world, siteId, command.address);
  const applicant = { medium, visitorTeams: facts.teams, requiredTeams };
  const ticket = admitTicket(world, candidates, applicant, {
    id,
    kind: 'visitor',
    siteId,
    visitorId,
    criteria,
    engagement: null,
    excludedOperator: null,
    address: command.address,
    preferred: facts.lastOperatorId,
  });
  if (siteOf(world, siteId).ticketNeedsPresence) setVisitorLease(world, visitorId, 60_000);
  return ticket;
}

function refuseFullAddress(world: World, siteId: string, address: string | null): void {
  const open = [...activeTickets(world), ...pending(world)].filter(
    (each) => each.siteId === siteId && each.address === address,
  );
  const { openPerAddress } = siteOf(world, siteId);
  if (address !== null && open.length >= openPerAddress) throw new ReferenceRefusal('address_limit');
}

/** D3.2 and D3.3. */
function admitTicket(
  world: World,
  candidates: readonly Queue[],
  applicant: Applicant,
  given: Pick<
    Ticket,
    'id' | 'kind' | 'siteId' | 'visitorId' | 'criteria' | 'engagement' | 'excludedOperator' | 'address' | 'preferred'
  >,
): Ticket {
  const admits = (queue: Queue): boolean => obstacleOf(world, queue, applicant) === 0;
  const found = candidates.map((queue) => chainOf(world, queue).find(admits)).filter((queue) => queue !== undefined);
  if (found.length === 0)
    throw new ReferenceRefusal(codes[Math.max(1, ...candidates.map((queue) => obstacleOf(world, queue, applicant)))]);
  const ticket: Ticket = {
    ...given,
    ...applicant,
    enqueuedAt: world.now,
    refusals: new Map(),
    entries: [...new Set(found)].map((queue) => ({ queue, enteredAt: world.now })),
    state: 'waiting',
    endedAt: null,
    request: null,
    engagementId: null,
  };
  world.tickets.push(ticket);
  return ticket;
}

function refuseEngaged(world: World, visitorId: string, siteId: string): void {
  if (ongoing(world).some((each) => each.visitorId === visitorId && [each.siteId, each.askedOn].includes(siteId)))
    throw new ReferenceRefusal('already_engaged');
}

function cancelTicket(world: World, { ticketId, kind, by }: Command<'cancelTicket'>): Ticket | null {
  const ticket = activeTickets(world).find((each) => each.id === ticketId && each.kind === kind);
  if (ticket === undefined) return null;
  if (ticket.request !== null) fail(world, ticket.request, by === 'visitor' ? 'visitor_cancel' : 'operator_cancel');
  endTicket(world, ticket, 'canceled');
  return ticket;
}

function operatorOn(world: World, operatorId: string, siteId: string): Operator {
  const operator = world.operators.find(({ id }) => id === operatorId);
  const isAssigned = Array.from(operator?.settings.sites.keys() ?? []).some((id) => id === siteId);
  if (operator === undefined || !isAssigned) throw new ReferenceRefusal('invalid_request');
  return operator;
}

function requestDirectly(world: World, command: Command<'requestDirectly'>): Request {
  const { id, origin, siteId, visitorId, operatorId, medium } = command;
  const operator = operatorOn(world, operatorId, siteId);
  if (command.facts.siteId !== siteId) throw new ReferenceRefusal('invalid_request');
  refuseEngaged(world, visitorId, siteId);
  const lasting = command.notes.platform === 'sms';
  const alike = pending(world).filter((each) => each.visitorId === visitorId && each.lasting === lasting);
  if (alike.length >= 10) throw new ReferenceRefusal('too_many');
  refuseFullAddress(world, siteId, command.address);
  if (origin === 'visitor') requireReady(world, operator, medium);
  else if (!operator.settings.enabled || (!lasting && !hasRoom(world, operator, medium)))
    throw new ReferenceRefusal('operator_unavailable');
  const { reactiveMs, proactiveMs } = siteOf(world, siteId);
  const timeoutMs = lasting ? lastingMs : origin === 'visitor' ? reactiveMs : proactiveMs;
  const nothing = { queue: null, ticket: null, engagement: null };
  const sides = { siteId, visitorId, operator };
  const { address } = command;
  const terms = { medium, timeoutMs, lasting, address };
  return createRequest(world, { id, kind: 'direct', origin, ...sides, ...terms, ...nothing });
}

function requireReady(world: World, operator: Operator, medium: Request['medium']): void {
  if (!operator.present || !takes(operator.settings.media, medium) || !hasRoom(world, operator, medium))
    throw new ReferenceRefusal('operator_unavailable');
}

function transferable(
  world: World,
  { engagementId, by }: Command<'transferToOperator' | 'transferToQueue'>,
): Engagement {
  const engagement = ongoing(world).find((each) => each.id === engagementId && each.operator.id === by);
  if (engagement === undefined) throw new ReferenceRefusal('not_found');
  if (engagement.transfer !== null) throw new ReferenceRefusal('transfer_pending');
  return engagement;
}

function transferToOperator(world: World, command: Command<'transferToOperator'>): Request {
  const engagement = transferable(world, command);
  const { siteId, visitorId } = engagement;
  const medium = command.medium ?? engagement.medium;
  const operator = operatorOn(world, command.operatorId, siteId);
  if (operator === engagement.operator) throw new ReferenceRefusal('invalid_request');
  requireReady(world, operator, medium);
  const { reactiveMs: timeoutMs } = siteOf(world, siteId);
  const named = {
    id: command.id,
    kind: 'transfer',
    origin: 'operator',
    queue: null,
    ticket: null,
    lasting: false,
    address: null,
  } as const;
  const request = createRequest(world, { ...named, siteId, visitorId, operator, medium, engagement, timeoutMs });
  engagement.transfer = request;
  return request;
}

function transferToQueue(world: World, command: Command<'transferToQueue'>): Ticket {
  const engagement = transferable(world, command);
  const { id, queueId, medium, facts } = command;
  const queue = world.queues.find((each) => each.id === queueId);
  if (queue === undefined) throw new ReferenceRefusal('invalid_request');
  const ticket = admitTicket(world, [queue], { medium, visitorTeams: facts.teams, requiredTeams: [] }, {
    id,
    kind: 'transfer',
    siteId: queue.settings.siteId,
    visitorId: engagement.visitorId,
    criteria: '',
    engagement,
    excludedOperator: engagement.operator.id,
    address: null,
    preferred: null,
  }); // prettier-ignore
  engagement.transfer = ticket;
  return ticket;
}

function answer(world: World, { requestId, action, by, error }: Command<'answer'>): Request | null {
  const request = pending(world).find(({ id, kind }) => id === requestId && kind !== 'transfer');
  if (request === undefined || !isParty(request, by)) return null;
  const isRequester = request.origin === by.kind;
  if (isRequester !== (action === 'cancel')) throw new ReferenceRefusal('forbidden');
  if (action === 'accept') start(world, request);
  if (action === 'decline') failAndRequeue(world, request, error === null ? 'rejected' : 'error', error?.message);
  if (action === 'cancel') {
    fail(world, request, error === null ? `${by.kind}_cancel` : 'error', error?.message);
    if (request.ticket !== null) endTicket(world, request.ticket, 'canceled');
  }
  return request;
}

function answerTransfer(world: World, { requestId, action, by, error }: Command<'answerTransfer'>): Request | null {
  const request = pending(world).find(({ id, kind }) => id === requestId && kind === 'transfer');
  const engagement = request?.engagement;
  if (request === undefined || engagement === null || engagement === undefined || by.kind !== 'operator') return null;
  const isTarget = request.operator.id === by.id;
  const isHolder = engagement.operator.id === by.id;
  if (!isTarget && !isHolder) return null;
  if (action === 'cancel' ? !isHolder : !isTarget) throw new ReferenceRefusal('forbidden');
  if (action === 'accept') completeTransfer(world, request, engagement);
  if (action === 'decline') failAndRequeue(world, request, error === null ? 'rejected' : 'error', error?.message);
  if (action === 'cancel') dropTransfer(world, engagement, 'operator_cancel');
  return request;
}

function end(world: World, { engagementId, by, error }: Command<'end'>): Engagement | null {
  const engagement = ongoing(world).find(({ id }) => id === engagementId);
  if (engagement === undefined || !isParty(engagement, by)) return null;
  endEngagement(world, engagement, error ? 'error' : `${by.kind}_hung_up`);
  return engagement;
}

function setPresence(world: World, { operatorId, available, media, leaseMs }: Command<'setPresence'>): null {
  const operator = world.operators.find(({ id }) => id === operatorId);
  if (operator === undefined) throw new ReferenceRefusal('not_found');
  const leaseUntil = leaseMs === null ? null : world.now + leaseMs;
  operator.settings = { ...operator.settings, available, leaseUntil, media: media ?? operator.settings.media };
  updatePresence(world, operator);
  return null;
}
