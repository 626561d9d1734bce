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
