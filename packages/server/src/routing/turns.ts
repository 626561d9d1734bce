import type { ChangeFeed } from '../platform/change-feed.ts';
import type { Clock } from '../platform/clock-watch.ts';
import { databaseErrorCode, isDatabaseUnavailable, type Sql } from '../platform/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { weightOf } from './board/board.ts';
import type { CommandName, Commands } from './board/commands.ts';
import { ClockStepped } from './move-times.ts';
import { takeTurn, type CachedBoard, type Job, type Order, type TurnOutcome } from './turn.ts';
import { accountsOutOfTime, dueAccounts } from './turn-store.ts';

/** How long a turn took and how much it carried out. */
export interface TurnSummary {
  readonly seconds: number;
  readonly orders: number;
}

interface TurnsOptions {
  /** Connections of their own: a request may hold one of the others while it waits for its turn. */
  readonly sql: Sql;
  readonly feed: ChangeFeed;
  readonly clock: Clock;
  readonly log: Log;
  /** Something of the account was written by this process. */
  readonly onMoved: (accountId: AccountId, what: NonNullable<TurnOutcome['moved']>) => void;
  /** A turn of this process was written, whatever it changed. */
  readonly onWritten?: (accountId: AccountId) => void;
  readonly onTurn?: (turn: TurnSummary) => void;
  readonly limits?: Partial<TurnLimits>;
}

interface TurnLimits {
  /** Orders one turn carries out at most; the rest are in the next. */
  readonly ordersInTurn: number;
  /** Orders that may wait for an account; more are told to come back. */
  readonly ordersWaiting: number;
  /** Boards kept in memory, and how many things are on them together. */
  readonly boards: number;
  readonly things: number;
  /** A board that nobody asked anything of for so long is let go. */
  readonly idleMs: number;
}

const defaultLimits: TurnLimits = {
  ordersInTurn: 1_000,
  ordersWaiting: 20_000,
  boards: 1_000,
  things: 2_000_000,
  idleMs: 10 * 60_000,
};

/** Every process looks so often for accounts on whose boards something is due that nobody has seen to. */
const pollMs = 1_000;
const accountsInPoll = 100;
/** After a step of the clock, and so often without one, it looks for accounts whose boards are by another clock. */
const checkTimesMs = 60_000;
/** A turn is taken again so often because of the clock. */
const maxClockRetries = 5;
/** A timer cannot be set further ahead than this. */
const longestTimerMs = 2 ** 31 - 1;

/** What a process has of one account: its board, what waits for the next turn, and when it must look by itself. */
interface BoardSlot {
  readonly accountId: AccountId;
  cached: CachedBoard | null;
  /** Not to be trusted: a turn with it is under way. */
  busy: boolean;
  waiting: Job[];
  timer: NodeJS.Timeout | null;
  /** By the monotonic clock. */
  usedAt: number;
  weight: number;
  /** Turns in a row that a step of the clock has undone. */
  clockRetries: number;
}

/**
 * The boards of this process, and whose turn it is. Orders for an account gather while its last turn is under way; the
 * next takes them all. Nothing here lasts: another process, or this one after a crash, reads the same from the database.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #limits: TurnLimits;
  readonly #slots = new Map<AccountId, BoardSlot>();
  readonly #poll: NodeJS.Timeout;
  /** Accounts may be by another clock: looked for from this moment on. */
  #checkTimesAt = 0;
  /** On all boards together. */
  #things = 0;
  #stopped = false;
  readonly #running = new Set<Promise<void>>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    // A change of what is configured makes the account due; this only makes it sooner than the poll.
    options.feed.on('boards', (id) => this.#tick(id as AccountId));
    options.clock.onStep(() => {
      this.#checkTimesAt = 0;
      void this.#pollDue();
    });
    this.#poll = setInterval(() => void this.#pollDue(), pollMs).unref();
  }

  /** Carries out the order in the account's next turn; resolves once it is written. */
  async run<Name extends CommandName>(accountId: AccountId, order: Order<Name>): Promise<Commands[Name]['answer']> {
    return new Promise((resolve, reject) => {
      const slot = this.#slot(accountId);
      if (this.#stopped || slot.waiting.length >= this.#limits.ordersWaiting) {
        reject(Object.assign(new Error('no more orders are taken'), { code: 'CONNECTION_ENDED' }));
        return;
      }
      slot.waiting.push({ order: order as Order, done: resolve as (answer: unknown) => void, failed: reject });
      this.#start(slot);
    });
  }

  /** How many boards are cached, how many things are on them, and how many orders wait. */
  get load(): { readonly boards: number; readonly things: number; readonly waiting: number } {
    let boards = 0;
    let waiting = 0;
    for (const slot of this.#slots.values()) {
      boards += Number(slot.cached !== null);
      waiting += slot.waiting.length;
    }
    return { boards, things: this.#things, waiting };
  }

  /** Takes nothing more and finishes what it has. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    for (const slot of this.#slots.values()) if (slot.timer !== null) clearTimeout(slot.timer);
    await Promise.all(this.#running);
  }

  #slot(accountId: AccountId): BoardSlot {
    const known = this.#slots.get(accountId);
    if (known !== undefined) return known;
    const slot: BoardSlot = {
      accountId,
      cached: null,
      busy: false,
      waiting: [],
      timer: null,
      usedAt: performance.now(),
      weight: 0,
      clockRetries: 0,
    };
    this.#slots.set(accountId, slot);
    return slot;
  }

  #start(slot: BoardSlot): void {
    if (slot.busy) return;
    slot.busy = true;
    const run = this.#drain(slot).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #drain(slot: BoardSlot): Promise<void> {
    // What else comes in with the same packets goes into the same turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (slot.waiting.length > 0) await this.#turn(slot, slot.waiting.splice(0, this.#limits.ordersInTurn));
    slot.busy = false;
    slot.usedAt = performance.now();
    if (slot.cached === null) this.#evict(slot);
    else if (this.#slots.size > this.#limits.boards || this.#things > this.#limits.things) this.#evictIdle();
  }

  async #turn(slot: BoardSlot, jobs: readonly Job[]): Promise<void> {
    const { cached } = slot;
    // Until the turn is known to be written, the board shows what may never have been.
    slot.cached = null;
    const began = performance.now();
    try {
      const outcome = await takeTurn(this.#options, slot.accountId, cached, jobs);
      slot.clockRetries = 0;
      this.#options.onTurn?.({ seconds: (performance.now() - began) / 1000, orders: jobs.length });
      this.#conclude(slot, cached, outcome);
    } catch (error) {
      await this.#recover(slot, jobs, error);
    }
  }

  #conclude(slot: BoardSlot, before: CachedBoard | null, { cached, answers, dueInMs, moved }: TurnOutcome): void {
    slot.cached = cached ?? before;
    this.#setWeight(slot, slot.cached === null ? 0 : weightOf(slot.cached.board));
    if (moved !== null) this.#options.onMoved(slot.accountId, moved);
    if (cached !== null && cached.version !== before?.version) this.#options.onWritten?.(slot.accountId);
    if (cached !== null) this.#setTimer(slot, dueInMs);
    for (const answer of answers) answer();
  }

  /**
   * Nothing of the turn was written, or nobody knows. A turn is taken again after a deadlock that it lost, and after a step
   * of the clock. After a fault of ours it is taken again one order at a time, so that only the one that has the fault fails.
   */
  async #recover(slot: BoardSlot, jobs: readonly Job[], error: unknown): Promise<void> {
    const code = databaseErrorCode(error);
    if (code === '40P01' || code === '40001') {
      slot.waiting.unshift(...jobs);
      return;
    }
    if (error instanceof ClockStepped && slot.clockRetries < maxClockRetries) {
      slot.clockRetries += 1;
      slot.waiting.unshift(...jobs);
      // Where the clock cannot be read either, the turn fails with the reason.
      await this.#options.clock.settle().catch(() => undefined);
      return;
    }
    if (!isDatabaseUnavailable(error)) this.#options.log.error({ err: error, orders: jobs.length }, 'a turn failed');
    if (isDatabaseUnavailable(error) || jobs.length === 1) {
      for (const job of jobs) job.failed(error);
      return;
    }
    for (const job of jobs) await this.#turn(slot, [job]);
  }

  #setTimer(slot: BoardSlot, dueInMs: number | null): void {
    if (slot.timer !== null) clearTimeout(slot.timer);
    slot.timer = null;
    if (dueInMs === null || this.#stopped) return;
    slot.timer = setTimeout(() => this.#tick(slot.accountId), Math.min(dueInMs + 2, longestTimerMs)).unref();
  }

  #tick(accountId: AccountId): void {
    if (this.#stopped) return;
    const slot = this.#slot(accountId);
    // One that waits already will see to it.
    if (slot.waiting.length > 0) return;
    this.run(accountId, { name: 'tick' }).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) this.#options.log.error({ err: error }, 'what was due could not be done');
    });
  }

  async #pollDue(): Promise<void> {
    try {
      for (const id of await dueAccounts(this.#options.sql, accountsInPoll)) this.#tick(id);
      await this.#checkTimes();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#options.log.warn({ err: error }, 'the poll for due accounts failed');
    }
    this.#evictIdle();
  }

  /** Nothing falls due on a board whose times lie in the future, so such accounts are looked for by themselves. */
  async #checkTimes(): Promise<void> {
    const now = performance.now();
    if (now < this.#checkTimesAt) return;
    const found = await accountsOutOfTime(this.#options.sql, accountsInPoll);
    for (const id of found) this.#tick(id);
    // As long as there are any, there may be more.
    this.#checkTimesAt = found.length > 0 ? 0 : now + checkTimesMs;
  }

  /** Boards that nobody uses, and the ones used longest ago where there are too many or they are too large. */
  #evictIdle(): void {
    const idle = [...this.#slots.values()].filter((slot) => !slot.busy).toSorted((a, b) => a.usedAt - b.usedAt);
    for (const slot of idle) {
      const isOld = performance.now() - slot.usedAt > this.#limits.idleMs;
      if (!isOld && this.#slots.size <= this.#limits.boards && this.#things <= this.#limits.things) break;
      this.#evict(slot);
    }
  }

  /** What it knew to be due others, and the poll, see to. */
  #evict(slot: BoardSlot): void {
    if (slot.timer !== null) clearTimeout(slot.timer);
    this.#setWeight(slot, 0);
    this.#slots.delete(slot.accountId);
  }

  #setWeight(slot: BoardSlot, weight: number): void {
    this.#things += weight - slot.weight;
    slot.weight = weight;
  }
}
