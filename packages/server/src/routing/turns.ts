import type { RowChanges } from '../platform/database/row-changes.ts';
import { databaseErrorCode, isDatabaseUnavailable } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { WorkRuns } from '../platform/periodic-work.ts';
import { currentTrace } from '../platform/watching/trace.ts';
import type { Tracer } from '../platform/watching/tracing/tracer.ts';
import { weightOf } from './board/board.ts';
import type { CommandName, Commands } from './board/commands.ts';
import { ClockStepped } from './move-times.ts';
import {
  takeTurn,
  type CachedBoard,
  type PendingCommand,
  type RequestedCommand,
  type TurnDependencies,
  type TurnOutcome,
} from './turn.ts';
import { beginTurnSpan } from './turn-span.ts';
import { accountsOutOfTime, dueAccounts } from './turn-store.ts';

/** The duration of a turn, the number of its commands, and the stays in queues that it ended. */
export interface TurnSummary {
  readonly seconds: number;
  readonly commands: number;
  readonly visits: TurnOutcome['visits'];
}

interface Options extends TurnDependencies {
  readonly changes: RowChanges;
  readonly log: Log;
  /** Called when this process changed visitor counts or staff of the account. */
  readonly onOutdated: (accountId: AccountId, what: NonNullable<TurnOutcome['outdated']>) => void;
  /** Called when this process committed a turn; `isHinted`: the turn has sent the hint. */
  readonly onWritten?: (accountId: AccountId, isHinted: boolean) => void;
  readonly onTurn?: (turn: TurnSummary) => void;
  readonly tracer?: Tracer | null;
  /** Receives whether the poll for due accounts succeeded. */
  readonly poll?: WorkRuns;
  readonly limits?: Partial<Limits>;
}

interface Limits {
  /** Orders per turn; the rest wait for the next turn. */
  readonly commandsInTurn: number;
  /** Waiting commands per account; further ones are rejected as unavailable (503). */
  readonly commandsWaiting: number;
  /** Boards in memory, and the number of objects on all of them. */
  readonly boards: number;
  readonly objects: number;
  /** A board is evicted after this time without a command. */
  readonly idleMs: number;
}

const defaultLimits: Limits = {
  commandsInTurn: 1_000,
  commandsWaiting: 20_000,
  boards: 1_000,
  objects: 2_000_000,
  idleMs: 10 * 60_000,
};

/** How often each process looks for accounts with a deadline that no process has handled. */
const pollMs = 1_000;
const accountsInPoll = 100;
/** How often, besides after a step of the clock, we look for accounts whose boards do not include all recorded steps. */
const checkTimesMs = 60_000;
/** How often a turn is retried because the clock was stepped. */
const maxClockRetries = 5;
/** The longest delay that `setTimeout` accepts. */
const maxTimerMs = 2 ** 31 - 1;

/** One account in this process: its cached board, the commands waiting for its next turn, and the timer of its next deadline. */
interface BoardSlot {
  readonly accountId: AccountId;
  cached: CachedBoard | null;
  /** A turn is running. */
  busy: boolean;
  waiting: PendingCommand[];
  timer: NodeJS.Timeout | null;
  /** Monotonic milliseconds. */
  usedAt: number;
  weight: number;
  /** Consecutive turns that failed because the clock was stepped. */
  clockRetries: number;
}

/**
 * Caches the boards of this process and runs their turns, one at a time per account. Orders that arrive during a turn wait; the
 * next turn takes all of them. All state here is a cache: another process, or this one after a crash, loads the same board from
 * the database.
 */
export class Turns {
  readonly #options: Options;
  readonly #limits: Limits;
  readonly #slots = new Map<AccountId, BoardSlot>();
  readonly #poll: NodeJS.Timeout;
  /** When to look again for boards that do not include all clock steps; monotonic milliseconds. */
  #checkTimesAt = 0;
  /** The number of objects on all boards. */
  #objects = 0;
  #stopped = false;
  readonly #running = new Set<Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    // A change of the configuration makes the account due. The notification is only faster than the poll.
    options.changes.on('boards', (id) => this.#tick(id as AccountId));
    options.clock.onStep(() => {
      this.#checkTimesAt = 0;
      void this.#pollDue();
    });
    this.#poll = setInterval(() => void this.#pollDue(), pollMs).unref();
  }

  /** Runs the command in the account's next turn; resolves after the commit. */
  async run<Name extends CommandName>(
    accountId: AccountId,
    command: RequestedCommand<Name>,
  ): Promise<Commands[Name]['answer']> {
    return new Promise((resolve, reject) => {
      const slot = this.#slot(accountId);
      if (this.#stopped || slot.waiting.length >= this.#limits.commandsWaiting) {
        const message = 'too many commands are waiting for the account, or the process is stopping';
        reject(Object.assign(new Error(message), { code: 'CONNECTION_ENDED' }));
        return;
      }
      // A timer that a request has set inherits its trace, but what is due by time was not caused by the request.
      const trace = command.name === 'tick' ? null : currentTrace();
      const done = resolve as (answer: unknown) => void;
      slot.waiting.push({ command: command as RequestedCommand, done, failed: reject, trace });
      this.#start(slot);
    });
  }

  /** The number of cached boards, of the objects on them, and of waiting commands. */
  get load(): { readonly boards: number; readonly objects: number; readonly waiting: number } {
    let boards = 0;
    let waiting = 0;
    for (const slot of this.#slots.values()) {
      boards += Number(slot.cached !== null);
      waiting += slot.waiting.length;
    }
    return { boards, objects: this.#objects, waiting };
  }

  /** For tests, which compare the board with the database; `null` while a turn runs. */
  cachedBoard(accountId: AccountId): CachedBoard | null {
    return this.#slots.get(accountId)?.cached ?? null;
  }

  /** Accepts no more commands, and waits for the running turns. */
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
    // Requests that were read from the network together go into the same turn.
    await new Promise((resolve) => setImmediate(resolve));
    while (slot.waiting.length > 0) await this.#turn(slot, slot.waiting.splice(0, this.#limits.commandsInTurn));
    slot.busy = false;
    slot.usedAt = performance.now();
    if (slot.cached === null) this.#evict(slot);
    else if (this.#slots.size > this.#limits.boards || this.#objects > this.#limits.objects) this.#evictIdle();
  }

  async #turn(slot: BoardSlot, commands: readonly PendingCommand[]): Promise<void> {
    const { cached } = slot;
    // Until the commit, the board shows a state that may be rolled back.
    slot.cached = null;
    const began = performance.now();
    const { tracer = null } = this.#options;
    const span = tracer === null ? null : beginTurnSpan(tracer, slot.accountId, commands);
    let outcome: TurnOutcome | null = null;
    try {
      outcome = await takeTurn(this.#options, slot.accountId, cached, span?.commands ?? commands);
    } catch (error) {
      span?.end(databaseErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown'));
      await this.#recover(slot, commands, error);
    }
    if (outcome === null) return;
    span?.end();
    this.#conclude(slot, cached, outcome);
    const { visits } = outcome;
    const seconds = (performance.now() - began) / 1000;
    this.#report(() => this.#options.onTurn?.({ seconds, commands: commands.length, visits }));
  }

  /** The turn is committed. */
  #conclude(slot: BoardSlot, before: CachedBoard | null, outcome: TurnOutcome): void {
    const { accountId } = slot;
    const { cached, answers, dueInMs, outdated, isWritten } = outcome;
    slot.clockRetries = 0;
    slot.cached = cached ?? before;
    this.#setWeight(slot, slot.cached === null ? 0 : weightOf(slot.cached.board));
    // Before the answers: whoever is answered reads what has changed.
    if (outdated !== null) this.#report(() => this.#options.onOutdated(accountId, outdated));
    if (isWritten) this.#report(() => this.#options.onWritten?.(accountId, outdated !== null));
    if (cached !== null) this.#setTimer(slot, dueInMs);
    for (const answer of answers) answer();
  }

  /** Calls back after a commit. An error of the callback must neither repeat the turn nor keep its commands from being answered. */
  #report(callBack: () => void): void {
    try {
      callBack();
    } catch (error) {
      this.#options.log.error({ err: error }, 'could not report a committed turn');
    }
  }

  /**
   * Handles a turn that was rolled back, or whose commit is uncertain. The turn is retried after a lost deadlock and after a step of
   * the clock. After a fault of ours it is retried one command at a time, so that only the faulty command fails.
   */
  async #recover(slot: BoardSlot, commands: readonly PendingCommand[], error: unknown): Promise<void> {
    const code = databaseErrorCode(error);
    if (code === '40P01' || code === '40001') {
      slot.waiting.unshift(...commands);
      return;
    }
    if (error instanceof ClockStepped && slot.clockRetries < maxClockRetries) {
      slot.clockRetries += 1;
      slot.waiting.unshift(...commands);
      // If the clock cannot be read, the retried turn fails with the reason.
      await this.#options.clock.readAgain().catch(() => undefined);
      return;
    }
    if (!isDatabaseUnavailable(error))
      this.#options.log.error({ err: error, commands: commands.length }, 'a turn failed');
    if (isDatabaseUnavailable(error) || commands.length === 1) {
      for (const pending of commands) pending.failed(error);
      return;
    }
    for (const pending of commands) await this.#turn(slot, [pending]);
  }

  #setTimer(slot: BoardSlot, dueInMs: number | null): void {
    if (slot.timer !== null) clearTimeout(slot.timer);
    slot.timer = null;
    if (dueInMs === null || this.#stopped) return;
    slot.timer = setTimeout(() => this.#tick(slot.accountId), Math.min(dueInMs + 2, maxTimerMs)).unref();
  }

  #tick(accountId: AccountId): void {
    if (this.#stopped) return;
    const slot = this.#slot(accountId);
    // The turn of a waiting command also handles what is due.
    if (slot.waiting.length > 0) return;
    this.run(accountId, { name: 'tick' }).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) this.#options.log.error({ err: error }, 'overdue work failed');
    });
  }

  async #pollDue(): Promise<void> {
    try {
      for (const id of await dueAccounts(this.#options.sql, accountsInPoll)) this.#tick(id);
      await this.#checkTimes();
      this.#options.poll?.succeeded();
    } catch (error) {
      this.#options.poll?.failed();
      if (!isDatabaseUnavailable(error)) this.#options.log.warn({ err: error }, 'the poll for due accounts failed');
    }
    this.#evictIdle();
  }

  /** After the clock was set back, no deadline is due on a board whose times are in the future. The poll would miss such a board. */
  async #checkTimes(): Promise<void> {
    const now = performance.now();
    if (now < this.#checkTimesAt) return;
    const found = await accountsOutOfTime(this.#options.sql, accountsInPoll);
    for (const id of found) this.#tick(id);
    // If some were found, there may be more than one batch.
    this.#checkTimesAt = found.length > 0 ? 0 : now + checkTimesMs;
  }

  /** Evicts idle boards, and the least recently used ones while the limits are exceeded. */
  #evictIdle(): void {
    const idle = [...this.#slots.values()].filter((slot) => !slot.busy).toSorted((a, b) => a.usedAt - b.usedAt);
    for (const slot of idle) {
      const isOld = performance.now() - slot.usedAt > this.#limits.idleMs;
      if (!isOld && this.#slots.size <= this.#limits.boards && this.#objects <= this.#limits.objects) break;
      this.#evict(slot);
    }
  }

  /** Drops a board and its timer. The poll handles its deadlines. */
  #evict(slot: BoardSlot): void {
    if (slot.timer !== null) clearTimeout(slot.timer);
    this.#setWeight(slot, 0);
    this.#slots.delete(slot.accountId);
  }

  #setWeight(slot: BoardSlot, weight: number): void {
    this.#objects += weight - slot.weight;
    slot.weight = weight;
  }
}
