/** While the visitor types, this is reported at most once per interval. */
const reportMs = 3_000;
/** A visitor who has written nothing for this long has stopped typing. */
const stopMs = 4_000;

/** Reports to the operator that the visitor is typing: throttled, and not after the message has been sent. */
export class Typing {
  readonly #report: (isTyping: boolean) => void;
  /** When typing was last reported, as `performance.now()`; 0: the visitor is not typing. */
  #reportedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(report: (isTyping: boolean) => void) {
    this.#report = report;
  }

  keyPressed(): void {
    const now = performance.now();
    if (this.#reportedAt === 0 || now - this.#reportedAt >= reportMs) {
      this.#reportedAt = now;
      this.#report(true);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), stopMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#reportedAt === 0) return;
    this.#reportedAt = 0;
    this.#report(false);
  }
}

export interface TypingIndicator {
  readonly typing: boolean;
  /** Grows with each indicator, so that a late one can be ignored. */
  readonly clock: number;
}

/** An indicator that is not repeated within this time expires. */
const expiryMs = 8_000;

/** Whether the operator is typing, by the indicators on the feed. */
export class OperatorTyping {
  readonly #show: (isTyping: boolean) => void;
  #clock = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(show: (isTyping: boolean) => void) {
    this.#show = show;
  }

  apply({ typing, clock }: TypingIndicator): void {
    if (clock < this.#clock) return;
    this.#clock = clock;
    clearTimeout(this.#timer);
    this.#show(typing);
    if (typing) this.#timer = setTimeout(() => this.#show(false), expiryMs);
  }
}
