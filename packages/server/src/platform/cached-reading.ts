import { setTimeout as sleep } from 'node:timers/promises';

/** A scrape that finds a reading of this age uses it: several scrapers, and several metrics, cost one statement. */
const freshMs = 5_000;
/** A scrape waits this long for a new reading. */
const waitMs = 1_000;
/** While the database is slow, an older reading is used up to this age. */
const usableMs = 30_000;

/**
 * A number for the metrics that only the database knows. Scraping must be cheap and must not wait for a silent database, so
 * readings are shared, cached, and read by one statement at a time.
 */
export class CachedReading<T> {
  readonly #read: () => Promise<T>;
  #last: { readonly value: T; readonly at: number } | null = null;
  #reading: Promise<void> | null = null;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** `null` if the database did not say. A metric then reports nothing: an outdated number would hide the fault. */
  async get(): Promise<T | null> {
    if (this.#last !== null && performance.now() - this.#last.at < freshMs) return this.#last.value;
    this.#reading ??= this.#renew().finally(() => (this.#reading = null));
    await Promise.race([this.#reading, sleep(waitMs, undefined, { ref: false })]);
    return this.#last !== null && performance.now() - this.#last.at < usableMs ? this.#last.value : null;
  }

  async #renew(): Promise<void> {
    const at = performance.now();
    try {
      this.#last = { value: await this.#read(), at };
    } catch {
      // usher_database_up reports it.
      this.#last = null;
    }
  }
}
