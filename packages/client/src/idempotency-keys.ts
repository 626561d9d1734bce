import { newId } from '@usher/sdk/new-id';
import { UsherUnreachable } from '@usher/sdk/errors';

/** How long the key of a request is kept after its answer was lost. */
const keepMs = 60_000;

/**
 * Assigns an `Idempotency-Key` to requests that create a resource, so that a form submitted twice creates one resource. An equal
 * request gets the same key while the first one is running, and after its answer was lost.
 */
export class IdempotencyKeys {
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
      if (!(error instanceof UsherUnreachable)) this.#forget(text, key);
      else setTimeout(() => this.#forget(text, key), keepMs);
      throw error;
    }
  }

  #forget(text: string, key: string): void {
    if (this.#keys.get(text) === key) this.#keys.delete(text);
  }
}
