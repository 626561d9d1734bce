import type { Signal } from './signal.ts';

/** The limit of the backlog. Beyond it the oldest signals are out of date and are dropped. */
const maxBacklog = 64;

/**
 * Sends signals one at a time, so that they arrive in order. A signal that fails is not retried: the side that misses it asks
 * again.
 */
export class Outbox {
  readonly #send: (signal: Signal) => Promise<unknown>;
  readonly #backlog: Signal[] = [];
  #sending = false;

  constructor(send: (signal: Signal) => Promise<unknown>) {
    this.#send = send;
  }

  get isEmpty(): boolean {
    return !this.#sending && this.#backlog.length === 0;
  }

  post(signal: Signal): void {
    this.#backlog.push(signal);
    if (this.#backlog.length > maxBacklog) this.#backlog.shift();
    if (!this.#sending) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#sending = true;
    for (let next = this.#backlog.shift(); next !== undefined; next = this.#backlog.shift())
      await this.#send(next).catch(() => undefined);
    this.#sending = false;
  }
}
