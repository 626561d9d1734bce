import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EngagementId, OperatorId, QueueId, SiteId, TicketId, VisitorId } from '../../platform/ids.ts';
import { Refusal } from '../../platform/errors.ts';
import { newBoard, takeChanges, type Board } from './board.ts';
import { apply } from './commands.ts';
import { putSite } from '../storage/site.ts';
import { putOperator, putQueue } from './rules/staffing.ts';
import {
  idSource,
  noMemory,
  notes,
  operatorNamed,
  queueNamed,
  siteNamed,
} from '../../../../../test/support/board/desk.ts';

/**
 * Compares the board on a virtual clock with queueing theory: visitors arrive at random (Poisson), operators accept offers
 * immediately, and handle times are exponential. Each run has a fixed seed, so results are reproducible. `npm run prove` runs
 * longer and requires narrower intervals.
 */
const isProof = process.env['PROVE'] !== undefined;

interface System {
  readonly operators: number;
  /** Arrivals per handle time. */
  readonly arrivals: number;
  /** Capacity of the queue. Default: unlimited. */
  readonly room?: number;
  /** Mean patience in handle times. Default: visitors wait for ever. */
  readonly patience?: number;
}

const handleMs = 1_000_000;
const site = 'site' as SiteId;
const queueId = 'queue' as QueueId;

/** A seeded generator of numbers in (0, 1] (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 1) / 4_294_967_296;
  };
}

function setUp({ operators, room = 1e9 }: System): Board {
  const board = newBoard(idSource());
  // The timeouts of the board never end a ticket or an offer: only the patience of visitors does.
  putSite(board, siteNamed(site, { ticketTimeoutMs: 1e15, reactiveMs: 1e15 }));
  putQueue(board, queueNamed(queueId, site, { capacityPolicy: { type: 'fixed', capacity: room } }), noMemory());
  for (let number = 0; number < operators; number += 1)
    putOperator(board, operatorNamed(`operator ${number}`, site), 0);
  return board;
}

/** Future events of the simulation, earliest first: a binary heap. */
class Agenda {
  readonly #heap: { readonly at: number; readonly what: () => void }[] = [];

  add(at: number, what: () => void): void {
    const heap = this.#heap;
    let index = heap.push({ at, what }) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if ((heap[above]?.at ?? 0) <= at) break;
      swap(heap, index, above);
      index = above;
    }
  }

  take(): { readonly at: number; readonly what: () => void } | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (last === undefined || first === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ;) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const below = (heap[right]?.at ?? Infinity) < (heap[left]?.at ?? Infinity) ? right : left;
      if ((heap[below]?.at ?? Infinity) >= last.at) return first;
      swap(heap, index, below);
      index = below;
    }
  }
}

function swap<Item>(items: Item[], a: number, b: number): void {
  [items[a], items[b]] = [items[b] as Item, items[a] as Item];
}

interface Result {
  /** Shares of the visitors who came after the warm-up. */
  readonly waited: number;
  readonly blocked: number;
  readonly abandoned: number;
  /** In handle times, of all admitted visitors. */
  readonly meanWait: number;
}

/** One run. The first tenth of the visitors warms up the system and is not counted. */
function simulate(system: System, visitors: number, seed: number): Result {
  const board = setUp(system);
  const random = randomOf(seed);
  const draw = (mean: number): number => Math.max(1, Math.round(-Math.log(random()) * mean));
  const agenda = new Agenda();
  const warm = Math.floor(visitors / 10);
  const counts = { came: 0, blocked: 0, waited: 0, abandoned: 0, let: 0, waitMs: 0 };
  const entered = new Map<string, { at: number; counts: boolean }>();
  let now = 1;
  /** Little's law: the area under the number of waiting visitors equals the sum of their waits. */
  const little = { area: 0, sum: 0, since: now };
  const queue = board.queues.get(queueId);
  assert(queue !== undefined);

  const leave = (ticketId: string, how: 'engaged' | 'abandoned'): void => {
    const known = entered.get(ticketId);
    assert(known !== undefined);
    entered.delete(ticketId);
    const waitedMs = now - known.at;
    little.sum += waitedMs;
    if (!known.counts) return;
    counts.waitMs += waitedMs;
    if (waitedMs > 0) counts.waited += 1;
    if (how === 'abandoned') counts.abandoned += 1;
  };
  const acceptOffers = (): void => {
    const { requests } = takeChanges(board);
    for (const { id: requestId, state, operator, ticket } of requests) {
      if (state !== 'pending' || ticket === null) continue;
      const by = { kind: 'operator', id: operator.settings.id } as const;
      const accepted = apply(board, { name: 'answer', requestId, action: 'accept', by, error: null }, now);
      const engagementId = accepted?.engagementId;
      assert(engagementId);
      leave(ticket.id, 'engaged');
      agenda.add(now + draw(handleMs), () => finish(engagementId, operator.settings.id));
    }
    takeChanges(board);
  };
  const finish = (engagementId: EngagementId, id: OperatorId): void => {
    apply(board, { name: 'end', engagementId, by: { kind: 'operator', id }, error: false }, now);
    acceptOffers();
  };
  const abandon = (ticketId: TicketId): void => {
    if (!entered.has(ticketId)) return;
    apply(board, { name: 'cancelTicket', ticketId, kind: 'visitor', by: 'visitor' }, now);
    leave(ticketId, 'abandoned');
    takeChanges(board);
  };
  const arrive = (number: number): void => {
    if (number + 1 < visitors) agenda.add(now + draw(handleMs / system.arrivals), () => arrive(number + 1));
    const isCounted = number >= warm;
    if (isCounted) counts.came += 1;
    const patienceMs = system.patience === undefined ? null : draw(system.patience * handleMs);
    const ticketId = `ticket ${number}` as TicketId;
    if (!enqueue(board, ticketId, number, now)) {
      if (isCounted) counts.blocked += 1;
      return;
    }
    if (isCounted) counts.let += 1;
    entered.set(ticketId, { at: now, counts: isCounted });
    acceptOffers();
    if (patienceMs !== null && entered.has(ticketId)) agenda.add(now + patienceMs, () => abandon(ticketId));
  };

  agenda.add(now, () => arrive(0));
  for (let next = agenda.take(); next !== undefined; next = agenda.take()) {
    little.area += queue.visitors * (next.at - now);
    now = next.at;
    next.what();
  }
  assert.equal(entered.size, 0, 'all visitors have left');
  assert.equal(little.area, little.sum, "Little's law: the mean number waiting = arrivals per time × mean wait");
  return {
    waited: counts.waited / counts.let,
    blocked: counts.blocked / counts.came,
    abandoned: counts.abandoned / counts.came,
    meanWait: counts.waitMs / counts.let / handleMs,
  };
}

/** Returns whether the queue admitted the visitor. */
function enqueue(board: Board, id: TicketId, number: number, now: number): boolean {
  const visitorId = `visitor ${number}` as VisitorId;
  const facts = { siteId: site, teams: [], leaseUntil: null, lastOperatorId: null };
  const input = {
    siteId: site,
    visitorId,
    medium: 'text',
    queueIds: [queueId],
    requiredTeams: [],
    facts,
    notes,
  } as const;
  try {
    return apply(board, { name: 'enqueue', id, ...input, address: null }, now).created;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'queue_full') return false;
    throw error;
  }
}

/** The probability of each number of visitors in the system, from its birth and death rates. */
function steady(gain: (n: number) => number, loss: (n: number) => number, max: number): number[] {
  const weights = [1];
  for (let n = 1; n <= max; n += 1) weights.push(((weights[n - 1] ?? 0) * gain(n - 1)) / loss(n));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

/** The figures by theory; times are in handle times. */
function expected({ operators, arrivals, room, patience }: System): Result {
  const max = room === undefined ? operators + 5_000 : operators + room;
  const impatience = patience === undefined ? 0 : 1 / patience;
  const waiting = (n: number): number => Math.max(0, n - operators);
  const chances = steady(
    () => arrivals,
    (n) => Math.min(n, operators) + waiting(n) * impatience,
    max,
  );
  const blocked = room === undefined ? 0 : (chances.at(-1) ?? 0);
  const meanWaiting = sum(chances.map((chance, n) => chance * waiting(n)));
  const busy = sum(chances.slice(operators, room === undefined ? undefined : -1));
  return {
    waited: busy / (1 - blocked),
    blocked,
    abandoned: (meanWaiting * impatience) / arrivals,
    meanWait: meanWaiting / (arrivals * (1 - blocked)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Student's t for 95 %, two-sided, by degrees of freedom. */
const student: Readonly<Record<number, number>> = { 9: 2.2622, 19: 2.093, 29: 2.0452 };

function interval(values: readonly number[]): { readonly mean: number; readonly halfWidth: number } {
  const mean = sum(values) / values.length;
  const variance = sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
  const t = student[values.length - 1];
  assert(t !== undefined, 'the table has no such degrees of freedom');
  return { mean, halfWidth: t * Math.sqrt(variance / values.length) };
}

interface Case {
  readonly name: string;
  readonly system: System;
  /** Visitors per run, in the short form. */
  readonly visitors: number;
  /** Published figures. */
  readonly known: Partial<Result>;
  /** The maximum half width of the interval, relative to the figure. */
  readonly width: number;
}

const erlangA = { operators: 50, arrivals: 0.8 * 60, patience: 120 / 60 };
const cases: readonly Case[] = [
  { name: 'M/M/1, ρ .8', system: { operators: 1, arrivals: 0.8 }, visitors: 20_000, known: { waited: 0.8, meanWait: 4 }, width: 0.1 }, // prettier-ignore
  { name: 'M/M/2, ρ .8', system: { operators: 2, arrivals: 1.6 }, visitors: 20_000, known: { waited: 0.7111, meanWait: 1.7778 }, width: 0.1 }, // prettier-ignore
  { name: 'M/M/10, ρ .9', system: { operators: 10, arrivals: 9 }, visitors: 30_000, known: { waited: 0.6687, meanWait: 0.6687 }, width: 0.2 }, // prettier-ignore
  { name: 'M/M/100, ρ .95', system: { operators: 100, arrivals: 95 }, visitors: 45_000, known: { waited: 0.5065, meanWait: 0.1013 }, width: 0.3 }, // prettier-ignore
  { name: 'M/M/10 with room for 15 to wait', system: { operators: 10, arrivals: 12, room: 15 }, visitors: 20_000, known: { blocked: 0.17166 }, width: 0.06 }, // prettier-ignore
  { name: 'Erlang-A', system: erlangA, visitors: 20_000, known: { waited: 0.4678, abandoned: 0.0309 }, width: 0.1 },
];

const form = isProof ? { seeds: 20, times: 10, narrower: 0.3 } : { seeds: 10, times: 1, narrower: 1 };

/** A hundred operators take as long as all other cases together, so only the long form has them. */
const maxOperators = isProof ? Infinity : 50;

for (const { name, system, visitors, known, width } of cases.filter(
  ({ system: { operators } }) => operators <= maxOperators,
)) {
  test(`${name}: theory lies in the 95 % interval of ${form.seeds} runs, and Little's law holds in each`, (context) => {
    const runs = Array.from({ length: form.seeds }, (_, seed) => simulate(system, visitors * form.times, seed + 1));
    const theory = expected(system);
    for (const [figure, value] of Object.entries(known) as [keyof Result, number][]) {
      const digits = String(value).split('.')[1]?.length ?? 0;
      assert.equal(theory[figure].toFixed(digits), value.toFixed(digits), `${figure} by the formula`);
      const { mean, halfWidth } = interval(runs.map((run) => run[figure]));
      const summary = `${figure}: ${mean.toPrecision(5)} ± ${halfWidth.toPrecision(2)}, theory ${theory[figure].toPrecision(5)}`;
      context.diagnostic(summary);
      assert(Math.abs(mean - theory[figure]) <= halfWidth, summary);
      assert(halfWidth <= width * form.narrower * theory[figure], `${summary}: the interval is too wide`);
    }
  });
}
