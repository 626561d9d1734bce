interface LoopParts {
  /** What a round does. Rounds never overlap. */
  readonly round: () => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** After a round that failed, the next one is this far off, unless somebody wakes the loop before. */
  readonly pauseMs: number;
}

/**
 * Runs rounds one at a time, whenever there may be something to do. The loop is
 *
 *   idle     waiting to be woken, by somebody or by its timer;
 *   due      about to begin a round, at once or after the one under way;
 *   running  in a round;
 *   stopped  done; a round that is under way is the last.
 *
 *            wake   round begins  round done  round failed        stop
 *   idle     due    –             –           –                   stopped
 *   due      same   running       same        idle, with a timer  stopped
 *   running  due    –             idle        idle, with a timer  stopped
 *   stopped  same   –             same        same                same
 */
export class Loop {
  readonly #parts: LoopParts;
  #state: 'idle' | 'due' | 'running' | 'stopped' = 'idle';
  #rounds = Promise.resolve();
  #timer: { readonly at: number; readonly timeout: NodeJS.Timeout } | null = null;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** There may be something to do. */
  wake(): void {
    const wasIdle = this.#state === 'idle';
    if (this.#state !== 'stopped') this.#state = 'due';
    if (wasIdle) this.#rounds = this.#run();
  }

  /** Wakes the loop after so long at the latest: an earlier moment that was asked for before stays. */
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

  /** Begins no further round; resolves when the one under way is done. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer?.timeout);
    return this.#rounds;
  }

  async #run(): Promise<void> {
    try {
      while (this.#state === 'due') {
        this.#state = 'running';
        await this.#parts.round();
      }
      if (this.#state === 'running') this.#state = 'idle';
    } catch (error) {
      if (this.#state !== 'stopped') this.#state = 'idle';
      this.#parts.onFailure(error);
      this.wakeWithin(this.#parts.pauseMs);
    }
  }
}
