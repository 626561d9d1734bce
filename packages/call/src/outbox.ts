import type { Signal } from './signal.ts';

/** What could not be sent for so long is out of date. */
const mostWaiting = 64;

/**
 * Sends signals one after the other, so that they are heard in that order. One that fails is not sent again: whoever
 * misses it asks.
 */
export class Outbox {
  readonly #send: (signal: Signal) => Promise<unknown>;
  readonly #waiting: Signal[] = [];
  #sending = false;

  constructor(send: (signal: Signal) => Promise<unknown>) {
    this.#send = send;
  }

  get isEmpty(): boolean {
    return !this.#sending && this.#waiting.length === 0;
  }

  post(signal: Signal): void {
    this.#waiting.push(signal);
    if (this.#waiting.length > mostWaiting) this.#waiting.shift();
    if (!this.#sending) void this.#pump();
  }

  async #pump(): Promise<void> {
    this.#sending = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      await this.#send(next).catch(() => undefined);
    this.#sending = false;
  }
}
