import {
  isOutage,
  readClock,
  recordDoubt,
  recordOutage,
  recordSeen,
  recordStep,
  type StoredClock,
} from './clock-store.ts';
import { isDatabaseUnavailable, type Sql } from '../database/database.ts';
import type { Log } from '../log.ts';
import { SteadyClock, stepToleranceMs, type ClockReading, type ReadingTime } from './steady-clock.ts';

/** How often the database's clock is read. */
const readEveryMs = 500;
/** How often the processes store that one of them reached the database. Outages are measured from there. */
const seenEveryMs = 2_000;
/** A step of at least this size suspends deletions. So does such a difference between the two clocks. */
const doubtFromMs = 60_000;
/** After this time without a reading, the service was off or the clock is wrong. */
const longestGapMs = 12 * 3_600_000;
/** Deletions resume after the clock has run without a step for this time. */
const doubtMs = 24 * 3_600_000;
/** If another process reverts a step within this time, the process that recorded it was suspended, and the clock was not stepped. */
const revertWithinMs = 60_000;
const maxTries = 5;

/** The part of `ClockWatch` that turns and leases use. */
export interface Clock {
  /** The unrecorded step of the database's clock, for a reading that began at `startedAt` (monotonic); 0 if there is none. */
  stepOf(reading: ClockReading, startedAt: number): number;
  /** Reads the clock again and records a step if no other process has. */
  readAgain(): Promise<void>;
  /** Calls `stepped` whenever the sum of recorded steps has changed. */
  onStep(stepped: () => void): void;
}

/** The time of a sweep, or the reason why it must not delete. */
export type SweepTime =
  | { readonly mayDelete: true; readonly now: Date; readonly steadyNow: Date }
  | { readonly mayDelete: false; readonly why: string };

/**
 * Detects steps of the database's clock (a correction, a restored machine, a failover) and records each step once. The owners
 * of stored times then shift them: the row of an account or of a destination says which steps its times include.
 *
 * Two comparisons detect a step. While the process runs, the database's clock is compared with the monotonic clock of the
 * process, which no step affects. At the start it is compared with the last stored reading: if that is in the future, the clock
 * was set back meanwhile. A clock that was set forward while no process ran looks like time that passed; therefore nothing is
 * deleted for a day after a long gap.
 *
 * A stored reading that is older than processes leave it shows that the service was out. The outage is recorded once, too: by the
 * first process that reads the clock afterwards, or by the first turn.
 *
 * A process whose monotonic clock stood still (a suspended machine) sees a step that did not happen. Other processes revert the
 * step, and this process accepts that.
 */
export class ClockWatch implements Clock {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #steady = new SteadyClock();
  #last: StoredClock;
  /** When this process last detected a step, by the monotonic clock. It does not know of a step right before it started. */
  #steppedAt = performance.now();
  #recorded: { readonly stepMs: number; readonly before: number; readonly at: number } | null = null;
  #seenAt = -Infinity;
  #agrees = true;
  readonly #stepped: (() => void)[] = [];
  #reading: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  private constructor(sql: Sql, log: Log, first: StoredClock, time: ReadingTime) {
    this.#sql = sql;
    this.#log = log;
    this.#last = first;
    this.#steady.restart(first, time);
  }

  static async start(sql: Sql, log: Log): Promise<ClockWatch> {
    const from = performance.now();
    const first = await readClock(sql);
    const watch = new ClockWatch(sql, log, first, { from, to: performance.now() });
    await watch.#compareWithLastSeen(first);
    await watch.readAgain();
    watch.#schedule();
    return watch;
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** The expected time of the database's clock, in epoch milliseconds, without a query. */
  databaseNow(): number {
    return this.steadyNow() + this.#last.shiftMs;
  }

  /** The database's clock without its steps, for times that only Usher reads and that a wrong clock must not affect. */
  steadyNow(): number {
    return this.#steady.at(performance.now());
  }

  /** The time since this process detected a step, or started. */
  sinceStepMs(): number {
    return performance.now() - this.#steppedAt;
  }

  /** Whether the clock may be wrong, so that no irreversible decision may depend on elapsed time. */
  get isInDoubt(): boolean {
    const { doubtUntil } = this.#last;
    return doubtUntil !== null && doubtUntil > this.databaseNow();
  }

  stepOf(reading: ClockReading, startedAt: number): number {
    return this.#steady.stepOf(reading, { from: startedAt, to: performance.now() });
  }

  onStep(stepped: () => void): void {
    this.#stepped.push(stepped);
  }

  async readAgain(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Decides by a new reading of the clock. */
  async sweepTime(): Promise<SweepTime> {
    await this.readAgain();
    const { at, shiftMs, doubtUntil } = this.#last;
    const apartMs = Date.now() - at;
    if (Math.abs(apartMs) > doubtFromMs)
      return {
        mayDelete: false,
        why: 'the clocks of this process and of the database differ by more than a minute; correct the wrong one',
      };
    if (doubtUntil !== null && doubtUntil > at)
      return {
        mayDelete: false,
        why: `the clock was stepped, or Usher was off for long. If the clock is right, no action is needed: deletions resume at ${new Date(doubtUntil).toISOString()}`,
      };
    return { mayDelete: true, now: new Date(at), steadyNow: new Date(at - shiftMs) };
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.readAgain()
        .catch((error: unknown) => {
          if (!isDatabaseUnavailable(error) && !this.#stopped)
            this.#log.warn({ err: error }, 'could not read the clock of the database; retrying');
        })
        .finally(() => this.#schedule());
    }, readEveryMs).unref();
  }

  async #read(): Promise<void> {
    for (let tries = 0; tries < maxTries; tries += 1) {
      const from = performance.now();
      const reading = await readClock(this.#sql);
      const time = { from, to: performance.now() };
      const stepMs = this.#steady.stepOf(reading, time);
      if (stepMs !== 0 && !this.#isReverted(reading, stepMs)) {
        await this.#record(stepMs, reading);
        continue;
      }
      if (stepMs === 0) this.#agree(reading, time);
      else this.#acceptRevert(reading, time);
      if (isOutage(reading)) {
        await recordOutage(this.#sql);
        continue;
      }
      this.#apply(reading);
      await this.#writeSeen();
      return;
    }
    throw new Error('the clock of the database keeps stepping');
  }

  /** If this process agrees with a later step of another, that was no reversion: the same step may come again. */
  #agree(reading: StoredClock, time: ReadingTime): void {
    this.#steady.follow(reading, time);
    const recorded = this.#recorded;
    if (recorded !== null && Math.abs(reading.shiftMs - recorded.before - recorded.stepMs) >= stepToleranceMs)
      this.#recorded = null;
  }

  /** Whether another process reverted the step that this process recorded. */
  #isReverted({ shiftMs }: StoredClock, stepMs: number): boolean {
    const recorded = this.#recorded;
    if (recorded === null || performance.now() - recorded.at > revertWithinMs) return false;
    return (
      Math.abs(shiftMs - recorded.before) < stepToleranceMs && Math.abs(stepMs - recorded.stepMs) < stepToleranceMs
    );
  }

  #acceptRevert(reading: StoredClock, time: ReadingTime): void {
    this.#recorded = null;
    this.#steady.restart(reading, time);
    this.#log.warn('other processes saw no step of the clock; this process was suspended and follows them');
  }

  async #record(stepMs: number, { shiftMs }: StoredClock): Promise<void> {
    this.#steppedAt = performance.now();
    const isLarge = Math.abs(stepMs) >= doubtFromMs;
    if (!(await recordStep(this.#sql, { stepMs, after: shiftMs, doubtMs: isLarge ? doubtMs : null }))) return;
    this.#recorded = { stepMs, before: shiftMs, at: performance.now() };
    const consequence = isLarge ? ' Nothing is deleted for a day.' : '';
    this.#log.warn(
      { step_sec: stepMs / 1000 },
      `the database's clock was set ${stepMs > 0 ? 'forward' : 'back'} by ${inSeconds(Math.abs(stepMs))} s; stored due times are shifted.${consequence}`,
    );
  }

  #apply(reading: StoredClock): void {
    const isStepped = reading.shiftMs !== this.#last.shiftMs;
    const outageMs = reading.outageMs - this.#last.outageMs;
    this.#last = reading;
    if (outageMs > 0)
      this.#log.info(
        { outage_sec: outageMs / 1000 },
        `no process reached the database for ${inSeconds(outageMs)} s; leases and offers last longer by this time`,
      );
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
        `the clock of this process is ${inSeconds(Math.abs(apartMs))} s ${apartMs > 0 ? 'ahead of' : 'behind'} the database's. Correct the wrong one; nothing is deleted until they agree.`,
      );
  }

  async #writeSeen(): Promise<void> {
    if (performance.now() - this.#seenAt < seenEveryMs) return;
    this.#seenAt = performance.now();
    await recordSeen(this.#sql, seenEveryMs / 2);
  }

  async #compareWithLastSeen(first: StoredClock): Promise<void> {
    const sinceMs = first.at - first.seenAt;
    // The watch has read the clock once; with this step recorded, the next reading is as expected.
    if (sinceMs < -stepToleranceMs) {
      const step = { stepMs: Math.round(sinceMs), after: first.shiftMs, doubtMs };
      if (await recordStep(this.#sql, step))
        this.#log.warn(
          { step_sec: sinceMs / 1000 },
          `the database's clock is ${inSeconds(-sinceMs)} s behind the time it showed when Usher last ran; stored due times are shifted. Nothing is deleted for a day.`,
        );
      const from = performance.now();
      const reading = await readClock(this.#sql);
      this.#steady.restart(reading, { from, to: performance.now() });
      this.#apply(reading);
    } else if (sinceMs > longestGapMs && (await recordDoubt(this.#sql, longestGapMs, doubtMs)))
      this.#log.warn(
        `the database's clock was last read ${Math.round(sinceMs / 3_600_000)} h ago: Usher was off, or the clock is wrong. Nothing is deleted for a day. If the clock is right, no action is needed.`,
      );
  }
}

function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
