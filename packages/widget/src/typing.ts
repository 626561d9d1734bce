/** Said again so often while somebody types. */
const againMs = 3_000;
/** Whoever has written nothing for so long has stopped. */
const stopMs = 4_000;

/** Tells the other side that the visitor is typing: seldom, and not after what was typed has been sent. */
export class Typing {
  readonly #tell: (isTyping: boolean) => void;
  #toldAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (isTyping: boolean) => void) {
    this.#tell = tell;
  }

  stroke(): void {
    const now = performance.now();
    if (this.#toldAt === 0 || now - this.#toldAt >= againMs) {
      this.#toldAt = now;
      this.#tell(true);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), stopMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    if (this.#toldAt === 0) return;
    this.#toldAt = 0;
    this.#tell(false);
  }
}

export interface TypingIndicator {
  readonly typing: boolean;
  /** Grows with each one, so that one that was overtaken is known. */
  readonly clock: number;
}

/** An operator who said so and nothing since is not typing any more. */
const typingMs = 8_000;

/** Whether the operator is typing, by what the feed brings. */
export class OperatorTyping {
  readonly #show: (isTyping: boolean) => void;
  #clock = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(show: (isTyping: boolean) => void) {
    this.#show = show;
  }

  take({ typing, clock }: TypingIndicator): void {
    if (clock < this.#clock) return;
    this.#clock = clock;
    clearTimeout(this.#timer);
    this.#show(typing);
    if (typing) this.#timer = setTimeout(() => this.#show(false), typingMs);
  }
}
