/** So often while the feed brings nothing. */
const everyMs = 4_000;

interface Parts {
  /** Reads everything that is shown. Answers whether that was possible. */
  readonly read: () => Promise<boolean>;
  readonly onRead: (isDone: boolean) => void;
}

/**
 * Some pages wrap `fetch` and wait for the whole of an answer: a feed, which does not end, then never arrives. While that is
 * so, what is shown is read by requests of their own. The feed is tried all the same; once it brings something, reading stops.
 */
export class FallbackReads {
  readonly #parts: Parts;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #works = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether news comes this way: the last read has succeeded. */
  get works(): boolean {
    return this.#works;
  }

  start(): void {
    if (this.#timer === null) this.#next(0);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#works = false;
  }

  #next(ms: number): void {
    const timer = setTimeout(() => {
      void this.#parts.read().then((isDone) => {
        // Stopped meanwhile, or even started again.
        if (this.#timer !== timer) return;
        this.#works = isDone;
        this.#parts.onRead(isDone);
        this.#next(everyMs);
      });
    }, ms);
    this.#timer = timer;
  }
}
