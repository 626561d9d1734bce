import assert from 'node:assert/strict';
import { media, type Medium } from '@usher/contract/media';
import { Refusal, type ErrorCode } from '../../../packages/server/src/platform/errors.ts';
import type {
  OperatorId,
  QueueId,
  RequestId,
  SiteId,
  TeamId,
  TicketId,
  VisitorId,
} from '../../../packages/server/src/platform/ids.ts';
import { makeEvent } from '../../../packages/server/src/events/make-event.ts';
import { compileHours, type CompiledHours } from '../../../packages/server/src/schedules/hours.ts';
import { newBoard, takeChanges, type Board } from '../../../packages/server/src/routing/board/board.ts';
import type { BoardEvent, Visit } from '../../../packages/server/src/routing/board/structures/changes.ts';
import {
  apply,
  type Command,
  type CommandName,
  type Commands,
} from '../../../packages/server/src/routing/board/commands.ts';
import { mediaSet } from '../../../packages/server/src/routing/board/structures/media.ts';
import { putSite } from '../../../packages/server/src/routing/storage/site.ts';
import { excuseOutage } from '../../../packages/server/src/routing/board/rules/outage.ts';
import { putOperator, putQueue } from '../../../packages/server/src/routing/board/rules/staffing.ts';
import type {
  Engagement,
  OperatorSettings,
  Queue,
  QueueMemory,
  QueueSettings,
  Request,
  RequestNotes,
  Site,
  Ticket,
} from '../../../packages/server/src/routing/board/structures/state.ts';
import { viewTicket, type TicketView } from '../../../packages/server/src/routing/board/views/views.ts';

/** Helpers of the board tests: readable ids, default settings, and a board that is driven by commands. */

/** A Monday, 08:55 UTC: five minutes before `officeHours` begin. */
export const monday = Date.UTC(2027, 0, 4, 8, 55);

/** Ids that sort in the order of creation, so that of two equal deadlines the older one comes first. */
export function idSource(): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `f0000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
  };
}

export function hoursOf(...spans: readonly (readonly [opens: string, closes: string])[]): CompiledHours {
  return compileHours({
    timezone: 'UTC',
    business_hours: spans.map(([opens_at, closes_at]) => ({
      opens_at,
      closes_at,
      days_of_week: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
    })),
  });
}

export const notes: RequestNotes = { source: null, platform: 'web', mediaOptions: null, message: null, webhooks: [] };

export function siteNamed(name: string, more: Partial<Site> = {}): Site {
  return {
    id: name as SiteId,
    reactiveMs: 30_000,
    proactiveMs: 15_000,
    missedMakesUnavailable: true,
    callsBesideChats: true,
    ticketTimeoutMs: 14_400_000,
    openPerAddress: 10,
    ticketNeedsPresence: false,
    ...more,
  };
}

export function queueNamed(name: string, siteId: SiteId, more: Partial<QueueSettings> = {}): QueueSettings {
  return {
    id: name as QueueId,
    siteId,
    media: mediaSet(media),
    teams: [],
    capacityPolicy: { type: 'fixed', capacity: 100 },
    whenUnstaffed: 'reject',
    rankingEnabled: false,
    ranks: new Map(),
    affinityMs: null,
    fallbackId: null,
    hours: null,
    welcomeMessage: null,
    ...more,
  };
}

export function operatorNamed(name: string, siteId: SiteId, more: Partial<OperatorSettings> = {}): OperatorSettings {
  return {
    id: name as OperatorId,
    enabled: true,
    sites: new Map([[siteId, new Set<TeamId>()]]),
    maxEngagements: 1,
    available: true,
    media: mediaSet(media),
    leaseUntil: null,
    ...more,
  };
}

export function noMemory(): QueueMemory {
  return { lastStatus: 'opened', waits: [], paceMs: null, leftOthersAt: null };
}

interface EnqueueInput {
  readonly site?: string;
  /** Default: every queue of the site. */
  readonly queues?: readonly string[];
  readonly medium?: Medium;
  readonly requiredTeams?: readonly string[];
  readonly teams?: readonly string[];
  /** The operator who last engaged the visitor. */
  readonly last?: string;
  readonly leaseUntil?: number;
  readonly address?: string;
}

/** A board with the site "site" and its own clock. Queues, operators and visitors have names as ids. */
export class Desk {
  now = monday;
  readonly board: Board = newBoard(idSource());
  /** All events since the last `takePayloads`. */
  readonly events: BoardEvent[] = [];
  readonly visits: Visit[] = [];
  readonly #tickets = new Map<string, Ticket>();
  #idCount = 0;

  constructor(site: Partial<Site> = {}) {
    this.board.now = this.now;
    this.site('site', site);
  }

  site(name: string, more: Partial<Site> = {}): void {
    putSite(this.board, siteNamed(name, more));
  }

  queue(name: string, more: Partial<QueueSettings> = {}): Queue {
    const memory = this.board.queues.get(name as QueueId)?.memory ?? noMemory();
    const queue = putQueue(this.board, queueNamed(name, 'site' as SiteId, more), { ...memory });
    this.wait(0);
    return queue;
  }

  operator(name: string, more: Partial<OperatorSettings> = {}): void {
    putOperator(this.board, operatorNamed(name, 'site' as SiteId, more), 0);
    this.wait(0);
  }

  /** Settings for operators of these teams. */
  inTeams(...teams: readonly string[]): Pick<OperatorSettings, 'sites'> {
    return { sites: new Map([['site' as SiteId, new Set(teams as TeamId[])]]) };
  }

  ask<Name extends CommandName>(command: Command<Name>): Commands[Name]['answer'] {
    const answer = apply(this.board, command, this.now);
    this.#collect();
    return answer;
  }

  /** Advances the clock and ticks the board. */
  wait(sec: number): void {
    this.now += sec * 1000;
    this.ask({ name: 'tick' });
  }

  /** The service is out for this time, and then takes the first turn. */
  outage(sec: number): void {
    const lastTurnAt = this.now;
    this.now += sec * 1000;
    excuseOutage(this.board, { outageMs: sec * 1000, lastTurnAt });
    this.wait(0);
  }

  renew(operators: readonly string[], visitors: readonly string[] = []): void {
    const [operatorIds, visitorIds] = [operators as OperatorId[], visitors as VisitorId[]];
    this.ask({ name: 'renewPresence', operatorIds, visitorIds, leaseMs: 30_000 });
  }

  /** Expects a refusal that leaves the board unchanged, and returns its code and details. */
  refusal(ask: () => unknown): { readonly code: ErrorCode; readonly details: readonly string[] } {
    const before = this.#snapshot();
    try {
      ask();
    } catch (error) {
      assert(error instanceof Refusal, String(error));
      assert.deepEqual(this.#snapshot(), before, 'a refusal has changed the board');
      return { code: error.code, details: error.details.map(({ attribute, detail }) => `${attribute} ${detail}`) };
    }
    return assert.fail('the command was not refused');
  }

  enqueue(
    visitor: string,
    { site = 'site', queues, medium = 'text', requiredTeams = [], address, ...facts }: EnqueueInput = {},
  ): TicketView {
    const { ticket } = this.ask({
      name: 'enqueue',
      id: this.#id() as TicketId,
      siteId: site as SiteId,
      visitorId: visitor as VisitorId,
      medium,
      queueIds: (queues as QueueId[] | undefined) ?? null,
      requiredTeams: requiredTeams as TeamId[],
      facts: this.#facts(site, facts),
      notes,
      address: address ?? null,
    });
    return ticket;
  }

  cancel(visitor: string, by: 'visitor' | 'operator' = 'visitor'): void {
    const { id: ticketId, kind } = this.#ticketOf(visitor);
    this.ask({ name: 'cancelTicket', ticketId, kind, by });
  }

  /** A direct request from `origin` to the other side. */
  request(
    origin: 'visitor' | 'operator',
    visitor: string,
    operator: string,
    { medium = 'text', address = null }: { medium?: Medium; address?: string | null } = {},
  ): void {
    this.ask({
      name: 'requestDirectly',
      id: this.#id() as RequestId,
      origin,
      siteId: 'site' as SiteId,
      visitorId: visitor as VisitorId,
      operatorId: operator as OperatorId,
      medium,
      facts: this.#facts('site', {}),
      notes,
      address,
    });
  }

  /** The operator answers their only pending request. */
  answer(
    operator: string,
    action: 'accept' | 'decline' | 'cancel',
    error: { message: string | null } | null = null,
  ): void {
    const { id: requestId, kind } = this.pending(operator);
    const by = { kind: 'operator', id: operator as OperatorId } as const;
    const answer = this.ask({ name: kind === 'transfer' ? 'answerTransfer' : 'answer', requestId, action, by, error });
    assert(answer !== null);
  }

  /** Starts an engagement between the visitor and the operator through a queue. */
  engage(visitor: string, operator: string, input: EnqueueInput = {}): void {
    this.enqueue(visitor, input);
    assert.equal(this.offered(visitor), operator);
    this.answer(operator, 'accept');
  }

  transferTo(operator: string, engagement: Engagement, by: string = engagement.operator.settings.id): void {
    const id = this.#id() as RequestId;
    const command = {
      engagementId: engagement.id,
      by: by as OperatorId,
      operatorId: operator as OperatorId,
      medium: null,
    };
    this.ask({ name: 'transferToOperator', id, ...command, notes });
  }

  transferToQueue(queue: string, engagement: Engagement): void {
    const id = this.#id() as TicketId;
    const [by, queueId] = [engagement.operator.settings.id, queue as QueueId];
    const facts = this.#facts('site', {});
    this.ask({ name: 'transferToQueue', id, engagementId: engagement.id, by, queueId, medium: 'text', facts, notes });
  }

  end(engagement: Engagement, by: 'visitor' | 'operator', error = false): void {
    const { visitor, operator } = engagement;
    const party =
      by === 'visitor' ? ({ kind: by, id: visitor.id } as const) : ({ kind: by, id: operator.settings.id } as const);
    this.ask({ name: 'end', engagementId: engagement.id, by: party, error });
  }

  present(operator: string, available: boolean, leaseSec: number | null = null): void {
    const presence = { available, media: null, leaseMs: leaseSec === null ? null : leaseSec * 1000, reason: null };
    this.ask({ name: 'setPresence', operatorId: operator as OperatorId, ...presence });
  }

  visitorPresent(visitor: string, leaseSec: number): void {
    this.ask({ name: 'setVisitorPresence', visitorId: visitor as VisitorId, leaseMs: leaseSec * 1000 });
  }

  pending(operator: string): Request {
    const [request, ...others] = this.board.operators.get(operator as OperatorId)?.requests ?? [];
    assert(request !== undefined && others.length === 0, `${operator} does not have exactly one request`);
    return request;
  }

  engagement(visitor: string): Engagement {
    const [engagement] = this.board.visitors.get(visitor as VisitorId)?.engagements ?? [];
    assert(engagement !== undefined, `${visitor} is not engaged`);
    return engagement;
  }

  /** The visitor's latest ticket. */
  ticket(visitor: string): TicketView {
    return viewTicket(this.#ticketOf(visitor));
  }

  /** The operator to whom the visitor's ticket is offered. */
  offered(visitor: string): string | null {
    return this.#ticketOf(visitor).request?.operator.settings.id ?? null;
  }

  offeredFrom(visitor: string): string | null {
    return this.#ticketOf(visitor).request?.queue?.settings.id ?? null;
  }

  /** The event payloads since the last call, as webhooks receive them. */
  takePayloads(): unknown[] {
    return this.events.splice(0).map(({ type, id, at, fields }) => makeEvent(type, { id, at: new Date(at) }, fields));
  }

  #ticketOf(visitor: string): Ticket {
    const ticket = this.#tickets.get(visitor);
    assert(ticket !== undefined, `${visitor} has never had a ticket`);
    return ticket;
  }

  #facts(
    site: string,
    { teams = [], last, leaseUntil = null }: { teams?: readonly string[]; last?: string; leaseUntil?: number | null },
  ) {
    const lastOperatorId = last === undefined ? null : (last as OperatorId);
    return { siteId: site as SiteId, teams: teams as TeamId[], leaseUntil, lastOperatorId };
  }

  #id(): string {
    this.#idCount += 1;
    return `asked ${this.#idCount}`;
  }

  #collect(): void {
    const { tickets, events, visits } = takeChanges(this.board);
    for (const ticket of tickets) this.#tickets.set(ticket.visitor.id, ticket);
    this.events.push(...events);
    this.visits.push(...visits);
  }

  #snapshot() {
    const { tickets, requests, engagements, operators, visitors, queues, seq, changes } = this.board;
    return {
      tickets: Array.from(tickets.values(), viewTicket),
      requests: Array.from(requests.values(), ({ id, state }) => ({ id, state })),
      engagements: Array.from(engagements.values(), ({ id, transfer }) => ({ id, transfer: transfer?.id })),
      operators: Array.from(operators.values(), ({ settings, texts, exclusives }) => ({
        ...settings,
        texts,
        exclusives,
      })),
      visitors: [...visitors.keys()],
      queues: Array.from(queues.values(), ({ visitors: count, memory }) => ({
        visitors: count,
        memory: structuredClone(memory),
      })),
      seq,
      changes: [changes.tickets.size, changes.requests.size, changes.engagements.size, changes.queues.size],
    };
  }
}
