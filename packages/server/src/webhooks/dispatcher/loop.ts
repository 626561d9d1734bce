interface LoopOptions {
  /** One round. Rounds never overlap. */
  readonly round: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** The next round after a failed one begins after this pause, unless the loop is woken earlier. */
  readonly pauseMs: number;
}

/**
 * Runs rounds one at a time, whenever there may be something to do. The loop is
 *
 *   idle     waiting for `wake` or its timer;
 *   due      about to begin a round, at once or after the current one;
 *   running  in a round;
 *   stopped  the current round, if any, is the last.
 *
 *            wake   round begins  round done  round failed        stop
 *   idle     due    –             –           –                   stopped
 *   due      same   running       same        idle, with a timer  stopped
 *   running  due    –             idle        idle, with a timer  stopped
 *   stopped  same   –             same        same                same
 */
export class Loop {
  readonly #deps: LoopOptions;
  #state: 'idle' | 'due' | 'running' | 'stopped' = 'idle';
  #rounds = Promise.resolve();
  #timer: { readonly at: number; readonly timeout: NodeJS.Timeout } | null = null;

  constructor(deps: LoopOptions) {
    this.#deps = deps;
  }

  /** Call this when there may be something to do. */
  wake(): void {
    const wasIdle = this.#state === 'idle';
    if (this.#state !== 'stopped') this.#state = 'due';
    if (wasIdle) this.#rounds = this.#run();
  }

  /** Wakes the loop after `ms` at the latest; an earlier wake that is already scheduled stays. */
  wakeWithin(ms: number): void {
    const at = performance.now() + ms;
    if (this.#state === 'stopped' || (this.#timer !== null && this.#timer.at <= at)) return;
    clearTimeout(this.#timer?.timeout);
    const timeout = setTimeout(() => {
      this.#timer = null;
      this.wake();
    }, ms).unref();
    this.#timer = { at, timeout };
  }

  /** Begins no further round; resolves when the current one is done. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer?.timeout);
    return this.#rounds;
  }

  async #run(): Promise<void> {
    try {
      while (this.#state === 'due') {
        this.#state = 'running';
        await this.#deps.round();
      }
      if (this.#state === 'running') this.#state = 'idle';
    } catch (error) {
      if (this.#state !== 'stopped') this.#state = 'idle';
      this.#deps.onFailure(error);
      this.wakeWithin(this.#deps.pauseMs);
    }
  }
}
