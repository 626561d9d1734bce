import assert from 'node:assert/strict';
import { takes } from './reference-world.ts';
import type { Board } from '../../../packages/server/src/routing/board/board.ts';
import type { Command } from '../../../packages/server/src/routing/board/commands.ts';
import { estimateOf, loadOf, positionOf, visitorsIn, lineOf, type World } from './reference-world.ts';
import type { Changes } from '../../../packages/server/src/routing/board/structures/changes.ts';
import type {
  Engagement,
  Operator,
  QueueEntry,
  Request,
  Ticket,
} from '../../../packages/server/src/routing/board/structures/state.ts';
import type { Ledger } from './model-ledger.ts';
import { viewTicket } from '../../../packages/server/src/routing/board/views/views.ts';

/** The visible state of a board and of the reference in the same form, and the invariants of every board. */

export function boardView(board: Board, ledger: Ledger, now: number) {
  return {
    tickets: Array.from(ledger.tickets.values(), (row) => {
      const ticket = board.tickets.get(row.id);
      const view = ticket === undefined ? null : viewTicket(ticket);
      return {
        id: row.id,
        state: row.state,
        endedAt: row.ended_at,
        queues: row.queue_ids,
        enteredAt: row.entered_at,
        preferred: row.preferred_operator_id,
        refusals: unexpired(Object.entries(row.refusals), now),
        engagement: row.engagement_id,
        request: view?.requestId ?? null,
        position: view?.position ?? null,
        estimate: view?.estimatedWaitMs ?? null,
      };
    }),
    requests: Array.from(ledger.requests.values(), (row) => ({
      id: row.id,
      kind: row.kind,
      origin: row.origin,
      state: row.state,
      failReason: row.fail_reason,
      endedAt: row.ended_at,
      site: row.site_id,
      visitor: row.visitor_id,
      operator: row.operator_id,
      medium: row.media,
      queue: row.queue_id,
      ticket: row.ticket_id,
      engagement: row.engagement_id,
      createdAt: row.created_at,
      timeoutMs: row.timeout_ms,
    })),
    engagements: Array.from(ledger.engagements.values(), (row) => ({
      id: row.id,
      request: row.request_id,
      ticket: row.ticket_id,
      queue: row.queue_id,
      visitor: row.visitor_id,
      site: row.site_id,
      operator: row.operator_id,
      medium: row.media,
      sub: row.sub_engagement_id,
      subStartedAt: row.sub_started_at,
      startedAt: row.started_at,
      endedAt: row.ended_at,
      endReason: row.end_reason,
      calls: ledger.callsOf(row.id).map(({ startedAt, endedAt, endedBy }) => ({ startedAt, endedAt, endedBy })),
      transfer: board.engagements.get(row.id)?.transfer?.id ?? null,
    })),
    operators: Array.from(board.operators.values(), ({ settings, present, texts, exclusives, lastEngagedAt }) => ({
      id: settings.id,
      available: settings.available,
      leaseUntil: settings.leaseUntil,
      media: settings.media,
      present,
      texts,
      exclusives,
      lastEngagedAt,
    })),
    queues: Array.from(board.queues.values(), ({ settings, memory, visitors, line }) => ({
      id: settings.id,
      lastStatus: memory.lastStatus,
      visitors,
      line: Array.from(line, ({ id }) => id),
      waits: memory.waits,
      paceMs: memory.paceMs,
      leftOthersAt: memory.leftOthersAt,
    })),
  };
}

function unexpired(refusals: [string, number][], now: number): string[] {
  return refusals.flatMap(([id, until]) => (until > now ? [`${id} until ${until}`] : [])).toSorted();
}

export function worldView(world: World): ReturnType<typeof boardView> {
  return {
    tickets: world.tickets.map((ticket) => ({
      id: ticket.id as never,
      state: ticket.state,
      endedAt: ticket.endedAt,
      queues: ticket.entries.map(({ queue }) => queue.settings.id),
      enteredAt: ticket.entries.map(({ enteredAt }) => enteredAt),
      preferred: ticket.preferred as never,
      refusals: unexpired([...ticket.refusals], world.now),
      engagement: (ticket.engagement?.id ?? ticket.engagementId) as never,
      request: (ticket.request?.id ?? null) as never,
      position: positionOf(world, ticket),
      estimate: estimateOf(world, ticket),
    })),
    requests: world.requests.map((request) => ({
      id: request.id as never,
      kind: request.kind,
      origin: request.origin,
      state: request.state,
      failReason: request.failReason,
      endedAt: request.endedAt,
      site: request.siteId as never,
      visitor: request.visitorId as never,
      operator: request.operator.settings.id,
      medium: request.medium,
      queue: request.queue?.settings.id ?? null,
      ticket: (request.ticket?.id ?? null) as never,
      engagement: (request.engagement?.id ?? null) as never,
      createdAt: request.createdAt,
      timeoutMs: request.timeoutMs,
    })),
    engagements: world.engagements.map((engagement) => ({
      id: engagement.id as never,
      request: engagement.request.id as never,
      ticket: (engagement.request.ticket?.id ?? null) as never,
      queue: engagement.request.queue?.settings.id ?? null,
      visitor: engagement.visitorId as never,
      site: engagement.siteId as never,
      operator: engagement.operator.settings.id,
      medium: engagement.medium,
      sub: engagement.subId as never,
      subStartedAt: engagement.subStartedAt,
      startedAt: engagement.startedAt,
      endedAt: engagement.endedAt,
      endReason: engagement.endReason,
      calls: [...engagement.calls],
      transfer: (engagement.transfer?.id ?? null) as never,
    })),
    operators: world.operators.map((operator) => {
      const texts = loadOf(world, operator).filter((medium) => medium === 'text').length;
      const { settings, present, lastEngagedAt } = operator;
      const { id, available, leaseUntil, media } = settings;
      const exclusives = loadOf(world, operator).length - texts;
      return { id, available, leaseUntil, media, present, texts, exclusives, lastEngagedAt };
    }),
    queues: world.queues.map((queue) => ({
      id: queue.settings.id,
      lastStatus: queue.lastStatus,
      visitors: visitorsIn(world, queue).length,
      line: lineOf(world, queue).map(({ id }) => id as never),
      waits: queue.waits,
      paceMs: queue.paceMs,
      leftOthersAt: queue.leftOthersAt,
    })),
  };
}

/** Checks D2.3, D3.4, D4.4 and D4.6 on the state of the board. */
export function assertInvariants(board: Board, ledger: Ledger, command: Command): void {
  const tickets = [...board.tickets.values()];
  for (const ticket of tickets)
    for (const operator of board.operators.values())
      if (ticket.state === 'waiting' && couldTake(board, ticket, operator))
        assert.fail(`D4.6: ${ticket.id} waits although ${operator.settings.id} could take it`);
  const visits = tickets
    .filter(({ kind }) => kind === 'visitor')
    .map(({ visitor, siteId }) => `${visitor.id} ${siteId}`);
  assert.equal(new Set(visits).size, visits.length, 'D3.4: a visitor has two tickets on a site');
  for (const { settings, engagements, requests } of board.operators.values()) {
    // An engagement that began with a reply by SMS may exceed the operator's limit.
    const ordinary = [...engagements.filter((each) => !beganByPhone(ledger, each)), ...requests.filter(occupies)];
    const exclusives = ordinary.filter(({ medium }) => medium !== 'text').length;
    // A call may be beside chats, if the site allows it.
    assert(exclusives <= 1 && ordinary.length <= 3, `D4.4: ${settings.id} is overbooked`);
  }
  if (command.name !== 'enqueue' && command.name !== 'transferToQueue') return;
  for (const { queue } of board.tickets.get(command.id)?.entries ?? [])
    assert(queue.visitors <= capacityOn(board, queue), `D2.3: ${queue.settings.id} is over its capacity`);
}

function occupies({ notes }: Request): boolean {
  return notes.platform !== 'sms';
}

function beganByPhone({ requests }: Ledger, { requestId }: Engagement): boolean {
  return requests.get(requestId)?.notes.platform === 'sms';
}

function capacityOn(board: Board, { settings }: QueueEntry['queue']): number {
  const { capacityPolicy: policy } = settings;
  if (policy.type === 'fixed') return policy.capacity;
  const staff = [...board.operators.values()].filter(
    (operator) =>
      isOf(operator, settings, []) && isPresent(board, operator) && (operator.settings.media & settings.media) > 0,
  );
  return Math.floor(policy.multiplier * staff.length);
}

function isPresent({ now }: Board, { settings: { enabled, available, leaseUntil } }: Operator): boolean {
  return enabled && available && (leaseUntil === null || leaseUntil > now);
}

function isOf(
  { settings: { sites } }: Operator,
  { siteId, teams }: QueueEntry['queue']['settings'],
  requiredTeams: Ticket['requiredTeams'],
): boolean {
  const own = sites.get(siteId);
  return (
    own !== undefined &&
    (teams.length === 0 || teams.some((team) => own.has(team))) &&
    (requiredTeams.length === 0 || requiredTeams.some((team) => own.has(team)))
  );
}

/** Brute force, from settings, requests and engagements alone. */
function couldTake(board: Board, ticket: Ticket, operator: Operator): boolean {
  const { medium, excludedOperator } = ticket;
  const isHere = (each: Operator): boolean =>
    isPresent(board, each) &&
    takes(each.settings.media, medium) &&
    each.settings.id !== excludedOperator &&
    ticket.entries.some((entry) => isFor(board, ticket, entry, each));
  const pending = [...board.requests.values()].filter(occupies);
  const load = [...pending, ...board.engagements.values()].filter((each) => each.operator === operator);
  const max = medium === 'text' ? operator.settings.maxEngagements : 1;
  if (!isHere(operator) || load.length >= max || load.some((each) => each.medium !== 'text')) return false;
  const hasRefused = ({ settings: { id } }: Operator): boolean => (ticket.refusals?.get(id) ?? 0) > board.now;
  return !hasRefused(operator) || ![...board.operators.values()].some((each) => isHere(each) && !hasRefused(each));
}

function isFor(board: Board, ticket: Ticket, { queue: { settings } }: QueueEntry, operator: Operator): boolean {
  const { preferred, enqueuedAt, requiredTeams } = ticket;
  const last = preferred === null ? undefined : board.operators.get(preferred);
  const isReserved =
    last?.settings.enabled === true &&
    isOf(last, settings, requiredTeams) &&
    enqueuedAt + (settings.affinityMs ?? 0) > board.now;
  return isOf(operator, settings, requiredTeams) && (!isReserved || last === operator);
}

export function visibleChanges({ events, visits }: Changes) {
  return {
    events: events.map(({ type, about, fields }) => ({
      type,
      about,
      fields: 'message' in fields ? { ...fields, message: { ...fields.message, id: 'new' } } : fields,
    })),
    visits: visits.map(({ queueId: queue, ticketId: ticket, enteredAt, outcome }) => ({
      queue,
      ticket,
      enteredAt,
      outcome,
    })),
  };
}
