import { readClock, recordDoubt, recordSeen, recordStep, type StoredClock } from './clock-store.ts';
import { isDatabaseUnavailable, type Sql } from './database.ts';
import type { Log } from './log.ts';
import { SteadyClock, stepToleranceMs, type ClockReading, type Look } from './steady-clock.ts';

/** Looks at the database's clock are so far apart. */
const lookMs = 500;
/** What was last seen is written so often: a start compares it with now. */
const seenEveryMs = 10_000;
/** A step from this size on puts deleting off. So does such a difference between the two clocks. */
const doubtFromMs = 60_000;
/** Nobody has looked at the clock for so long: the service was off, or the clock is wrong. */
const longestGapMs = 12 * 3_600_000;
/** Deleting begins again when the clock has run evenly for so long. */
const doubtMs = 24 * 3_600_000;
/** A process whose step another process took back within this time has slept, and the clock was not stepped. */
const overruledWithinMs = 60_000;
const mostTries = 5;

/** What a turn, or a statement about leases, needs to know about time. */
export interface Clock {
  /** By how much the database's clock is off since `askedAt` (monotonic); 0: it is not. */
  stepOf(reading: ClockReading, askedAt: number): number;
  /** Looks again, and records the step if nobody has. */
  settle(): Promise<void>;
  /** Calls `stepped` whenever the recorded steps are others than before. */
  onStep(stepped: () => void): void;
}

/** When a sweep takes place, or why it must not delete. */
export type SweepTime =
  | { readonly mayDelete: true; readonly now: Date; readonly steadyNow: Date }
  | { readonly mayDelete: false; readonly why: string };

/**
 * Notices that the database's clock was stepped, whether by a correction, a restored machine or a failover, and records each
 * step once. What is stored with times is then moved by those who own it: the row of an account, or of a destination, says
 * which steps its times include.
 *
 * Two comparisons find a step. While the process runs, the database's clock is compared with the monotonic clock of the
 * process, which no step moves. At the start it is compared with the clock as it was last seen: where that lies in the
 * future, the clock was set back meanwhile. A clock that was set forward while no process ran cannot be told from time that
 * passed; but after a long gap nothing is deleted for a day.
 *
 * A process whose own monotonic clock stood still (a suspended machine) sees a step where there was none. Others take it
 * back, and the process believes them.
 */
export class ClockWatch implements Clock {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #steady = new SteadyClock();
  #last: StoredClock;
  /** When this process last noticed a step, by the monotonic clock. */
  #steppedAt = -Infinity;
  #recorded: { readonly stepMs: number; readonly before: number; readonly at: number } | null = null;
  #seenAt = -Infinity;
  #agrees = true;
  readonly #stepped: (() => void)[] = [];
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  private constructor(sql: Sql, log: Log, first: StoredClock, look: Look) {
    this.#sql = sql;
    this.#log = log;
    this.#last = first;
    this.#steady.restart(first, look);
  }

  static async start(sql: Sql, log: Log): Promise<ClockWatch> {
    const from = performance.now();
    const first = await readClock(sql);
    const watch = new ClockWatch(sql, log, first, { from, to: performance.now() });
    await watch.#compareWithLastSeen(first);
    await watch.settle();
    watch.#schedule();
    return watch;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The database's clock as it should be now, without asking. Epoch milliseconds. */
  databaseNow(): number {
    return this.steadyNow() + this.#last.shiftMs;
  }

  /** The database's clock without its steps: for what only Usher reads, and must outlast a wrong clock. */
  steadyNow(): number {
    return this.#steady.at(performance.now());
  }

  /** How long ago this process noticed a step. */
  sinceStepMs(): number {
    return performance.now() - this.#steppedAt;
  }

  /** Whether nothing may be decided for good by how much time has passed. */
  get isInDoubt(): boolean {
    const { doubtUntil } = this.#last;
    return doubtUntil !== null && doubtUntil > this.databaseNow();
  }

  stepOf(reading: ClockReading, askedAt: number): number {
    return this.#steady.stepOf(reading, { from: askedAt, to: performance.now() });
  }

  onStep(stepped: () => void): void {
    this.#stepped.push(stepped);
  }

  async settle(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** What was read just now decides, not what the last look showed. */
  async sweepTime(): Promise<SweepTime> {
    await this.settle();
    const { at, shiftMs, doubtUntil } = this.#last;
    const apartMs = Date.now() - at;
    if (Math.abs(apartMs) > doubtFromMs)
      return {
        mayDelete: false,
        why: 'the clocks of this process and of the database differ by more than a minute: correct the one that is wrong',
      };
    if (doubtUntil !== null && doubtUntil > at)
      return {
        mayDelete: false,
        why: `the clock was stepped, or nobody had looked at it for long. If it is right now, nothing needs to be done: deleting begins again at ${new Date(doubtUntil).toISOString()}`,
      };
    return { mayDelete: true, now: new Date(at), steadyNow: new Date(at - shiftMs) };
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.settle()
        .catch((error: unknown) => {
          if (!isDatabaseUnavailable(error) && !this.#stopped)
            this.#log.warn({ err: error }, 'the clock of the database could not be read; it is tried again');
        })
        .finally(() => this.#schedule());
    }, lookMs).unref();
  }

  async #look(): Promise<void> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const from = performance.now();
      const reading = await readClock(this.#sql);
      const look = { from, to: performance.now() };
      const stepMs = this.#steady.stepOf(reading, look);
      if (stepMs !== 0 && !this.#isOverruled(reading, stepMs)) {
        await this.#record(stepMs, reading);
        continue;
      }
      if (stepMs === 0) this.#steady.follow(reading, look);
      else this.#believe(reading, look);
      this.#note(reading);
      await this.#writeSeen();
      return;
    }
    throw new Error('the clock of the database does not come to rest');
  }

  #isOverruled({ shiftMs }: StoredClock, stepMs: number): boolean {
    const mine = this.#recorded;
    if (mine === null || performance.now() - mine.at > overruledWithinMs) return false;
    return Math.abs(shiftMs - mine.before) < stepToleranceMs && Math.abs(stepMs - mine.stepMs) < stepToleranceMs;
  }

  #believe(reading: StoredClock, look: Look): void {
    this.#recorded = null;
    this.#steady.restart(reading, look);
    this.#log.warn('other processes saw no step of the clock: this one has stood still, and goes by theirs');
  }

  async #record(stepMs: number, { shiftMs }: StoredClock): Promise<void> {
    this.#steppedAt = performance.now();
    const isLarge = Math.abs(stepMs) >= doubtFromMs;
    if (!(await recordStep(this.#sql, { stepMs, after: shiftMs, doubtMs: isLarge ? doubtMs : null }))) return;
    this.#recorded = { stepMs, before: shiftMs, at: performance.now() };
    const then = isLarge ? ' Nothing is deleted for a day.' : '';
    this.#log.warn(
      { step_sec: stepMs / 1000 },
      `the database's clock was set ${stepMs > 0 ? 'forward' : 'back'} by ${inSeconds(Math.abs(stepMs))} s; what waits is moved along.${then}`,
    );
  }

  #note(reading: StoredClock): void {
    const isStepped = reading.shiftMs !== this.#last.shiftMs;
    this.#last = reading;
    if (isStepped) {
      this.#steppedAt = performance.now();
      for (const stepped of this.#stepped) stepped();
    }
    this.#compareWithProcess(reading);
  }

  #compareWithProcess({ at }: StoredClock): void {
    const apartMs = Date.now() - at;
    const agrees = Math.abs(apartMs) <= doubtFromMs;
    if (agrees === this.#agrees) return;
    this.#agrees = agrees;
    if (agrees) this.#log.info('the clocks of this process and of the database agree again');
    else
      this.#log.warn(
        { apart_sec: apartMs / 1000 },
        `the clock of this process is ${inSeconds(Math.abs(apartMs))} s ${apartMs > 0 ? 'ahead of' : 'behind'} the database's. Correct the one that is wrong; nothing is deleted until they agree.`,
      );
  }

  async #writeSeen(): Promise<void> {
    if (performance.now() - this.#seenAt < seenEveryMs) return;
    this.#seenAt = performance.now();
    await recordSeen(this.#sql, seenEveryMs / 2);
  }

  async #compareWithLastSeen(first: StoredClock): Promise<void> {
    const sinceMs = first.at - first.seenAt;
    // The watch has looked once: with the step recorded, what it expects is what it sees.
    if (sinceMs < -stepToleranceMs) {
      const step = { stepMs: Math.round(sinceMs), after: first.shiftMs, doubtMs };
      if (await recordStep(this.#sql, step))
        this.#log.warn(
          { step_sec: sinceMs / 1000 },
          `the database's clock is ${inSeconds(-sinceMs)} s behind the time it showed when Usher last ran; what waits is moved along. Nothing is deleted for a day.`,
        );
      const from = performance.now();
      const reading = await readClock(this.#sql);
      this.#steady.restart(reading, { from, to: performance.now() });
      this.#note(reading);
    } else if (sinceMs > longestGapMs && (await recordDoubt(this.#sql, longestGapMs, doubtMs)))
      this.#log.warn(
        `nobody has looked at the database's clock for ${Math.round(sinceMs / 3_600_000)} h: Usher was off, or the clock is wrong. Nothing is deleted for a day. If the clock is right, nothing needs to be done.`,
      );
  }
}

function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
