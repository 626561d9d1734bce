/** The interval between polls while the feed brings nothing. */
const intervalMs = 4_000;

interface PollingOptions {
  /** Reads everything that is shown. Returns whether that succeeded. */
  readonly read: () => Promise<boolean>;
  readonly onRead: (isDone: boolean) => void;
}

/**
 * Polls while the live feed does not work. Some pages wrap `fetch` and wait for complete responses; the feed's response never ends,
 * so it never arrives there. The feed keeps trying, and polling stops when the feed delivers.
 */
export class FallbackPolling {
  readonly #options: PollingOptions;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #works = false;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  /** Whether the last poll succeeded. */
  get works(): boolean {
    return this.#works;
  }

  start(): void {
    if (this.#timer === null) this.#schedule(0);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#works = false;
  }

  #schedule(delayMs: number): void {
    const timer = setTimeout(() => {
      void this.#options.read().then((isDone) => {
        // Polling was stopped, and perhaps started again, during the read.
        if (this.#timer !== timer) return;
        this.#works = isDone;
        this.#options.onRead(isDone);
        this.#schedule(intervalMs);
      });
    }, delayMs);
    this.#timer = timer;
  }
}
