/** Runs at most `most` tasks at a time. The others wait, in the order they came. */
export class Turns {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await task();
    } finally {
      // Hands its turn to the next, if there is one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
