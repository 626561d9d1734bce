import { AsyncLocalStorage } from 'node:async_hooks';

/** What has timers: a process of the simulation. */
export type TimerOwner = object;

interface VirtualTimer {
  readonly owner: TimerOwner;
  readonly run: () => void;
  /** `null`: the timer runs once. */
  readonly everyMs: number | null;
  at: number;
}

const owners = new AsyncLocalStorage<TimerOwner>();

/** Timers that `work` starts, also later, belong to `owner`. */
export function runAs<T>(owner: TimerOwner, work: () => T): T {
  return owners.run(owner, work);
}

const { setTimeout: startTimeout, setInterval: startInterval, clearTimeout: stopTimer } = globalThis;
/** Every history begins with this time, so that nothing in it depends on those before. */
const beginning = 1_000_000;

/**
 * The monotonic clock and the timers of simulated processes. A timer that is due runs when the scheduler draws it, so timers can be late,
 * and those of a frozen process do not run. Timers that belong to no process are real ones.
 */
export class VirtualTimers {
  readonly #timers = new Set<VirtualTimer>();
  readonly #handles = new WeakMap<object, VirtualTimer>();
  now = beginning;

  start(): void {
    const start = (
      run: (...values: unknown[]) => void,
      ms: number,
      everyMs: number | null,
      values: unknown[],
    ): object => {
      const owner = owners.getStore();
      if (owner === undefined)
        return everyMs === null ? startTimeout(run, ms, ...values) : startInterval(run, ms, ...values);
      const timer = { owner, run: () => run(...values), everyMs, at: this.now + Math.max(1, ms) };
      this.#timers.add(timer);
      const handle = { ref: () => handle, unref: () => handle, hasRef: () => false };
      this.#handles.set(handle, timer);
      return handle;
    };
    const stop = (handle: unknown): void => {
      const timer = typeof handle === 'object' && handle !== null ? this.#handles.get(handle) : undefined;
      if (timer === undefined) stopTimer(handle as Parameters<typeof stopTimer>[0]);
      else this.#timers.delete(timer);
    };
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 1, ...values: unknown[]) => start(run, ms, null, values),
      setInterval: (run: () => void, ms = 1, ...values: unknown[]) => start(run, ms, Math.max(1, ms), values),
      clearTimeout: stop,
      clearInterval: stop,
    });
    performance.now = () => this.now;
  }

  stop(): void {
    Object.assign(globalThis, {
      setTimeout: startTimeout,
      setInterval: startInterval,
      clearTimeout: stopTimer,
      clearInterval: stopTimer,
    });
    Reflect.deleteProperty(performance, 'now');
  }

  /** Whether the earliest timer of the owner is due. */
  isDue(owner: TimerOwner): boolean {
    return (this.#earliest(owner)?.at ?? Infinity) <= this.now;
  }

  /** Runs the earliest timer of the owner. */
  runNext(owner: TimerOwner): void {
    const timer = this.#earliest(owner);
    if (timer === undefined) throw new Error('the process has no timer');
    if (timer.everyMs === null) this.#timers.delete(timer);
    else {
      timer.at = this.now + timer.everyMs;
      // Behind those that are due at the same time.
      this.#timers.delete(timer);
      this.#timers.add(timer);
    }
    runAs(owner, timer.run);
  }

  /** Runs all timers of the owner that are due. */
  runDue(owner: TimerOwner): void {
    while (this.isDue(owner)) this.runNext(owner);
  }

  /** The process was killed. */
  forget(owner: TimerOwner): void {
    for (const timer of this.#timers) if (timer.owner === owner) this.#timers.delete(timer);
  }

  #earliest(owner: TimerOwner): VirtualTimer | undefined {
    let earliest: VirtualTimer | undefined;
    for (const timer of this.#timers)
      if (timer.owner === owner && timer.at < (earliest?.at ?? Infinity)) earliest = timer;
    return earliest;
  }
}
