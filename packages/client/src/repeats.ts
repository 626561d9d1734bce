import { newId } from './new-id.ts';
import { Unreachable } from './problem.ts';

/** A request whose answer was lost may be repeated for so long with the key it had. */
const rememberMs = 60_000;

/**
 * Gives requests that create something an `Idempotency-Key`, so that a form that is submitted twice makes one thing. The same
 * request gets the same key while the first is under way, and after its answer was lost.
 */
export class Repeats {
  readonly #keys = new Map<string, string>();

  /** Runs `send` with the key of the request that `text` describes. */
  async run<T>(text: string, send: (key: string) => Promise<T>): Promise<T> {
    const key = this.#keys.get(text) ?? newId();
    this.#keys.set(text, key);
    try {
      const answer = await send(key);
      this.#forget(text, key);
      return answer;
    } catch (error) {
      if (!(error instanceof Unreachable)) this.#forget(text, key);
      else setTimeout(() => this.#forget(text, key), rememberMs);
      throw error;
    }
  }

  #forget(text: string, key: string): void {
    if (this.#keys.get(text) === key) this.#keys.delete(text);
  }
}
