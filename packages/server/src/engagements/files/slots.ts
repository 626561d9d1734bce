import { Refusal } from '../../platform/errors.ts';

/** Retry-After of a refused caller. */
const retryAfterSec = 5;

/**
 * Limits concurrent work per key in this process. Slots are per caller, so that a slow or malicious caller cannot use up those of
 * others.
 */
export class Slots {
  readonly #taken = new Map<string, number>();
  readonly #max: number;
  readonly #whenFull: string;

  constructor(max: number, whenFull: string) {
    this.#max = max;
    this.#whenFull = whenFull;
  }

  /** Takes a slot and returns the function that releases it. Calling that function again has no effect. */
  take(key: string): () => void {
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#max)
      throw new Refusal('rate_limited', this.#whenFull, { headers: { 'retry-after': String(retryAfterSec) } });
    this.#taken.set(key, taken + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#taken.get(key) ?? 1) - 1;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    };
  }
}
