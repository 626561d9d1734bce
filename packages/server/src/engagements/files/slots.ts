import { Refusal } from '../../platform/errors.ts';

/** A caller who has no slot left is told to come back after so long. */
const retryAfterSec = 5;

/**
 * Counts what is under way for each key, in this process, and refuses one too many. Slots belong to one caller, so that a
 * caller who is slow, or means harm, takes nobody else's.
 */
export class Slots {
  readonly #taken = new Map<string, number>();
  readonly #most: number;
  readonly #whenFull: string;

  constructor(most: number, whenFull: string) {
    this.#most = most;
    this.#whenFull = whenFull;
  }

  /** Answers how to give the slot back; doing so twice gives it back once. */
  take(key: string): () => void {
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#most)
      throw new Refusal('rate_limited', this.#whenFull, { headers: { 'retry-after': String(retryAfterSec) } });
    this.#taken.set(key, taken + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    };
  }
}
