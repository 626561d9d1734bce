import type { SiteId } from '../platform/ids.ts';

interface Weighed {
  /** How many queues the value holds. */
  readonly weight: number;
}

/**
 * Caches values by site. Watched sites are never evicted: their feeds read them every few seconds, and one site more than fit would
 * make each of those a read of the database. Of the other sites those that were used last are cached, up to `limit` queues.
 */
export class SiteCache<Value extends Weighed> {
  readonly #watchers = new Map<SiteId, number>();
  readonly #watched = new Map<SiteId, Value>();
  /** In the order of use. */
  readonly #others = new Map<SiteId, Value>();
  readonly #limit: number;
  /** The sum of the weights of `#others`. */
  #weight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(id: SiteId): Value | undefined {
    const watched = this.#watched.get(id);
    if (watched !== undefined) return watched;
    const value = this.#others.get(id);
    if (value === undefined) return undefined;
    this.#others.delete(id);
    this.#others.set(id, value);
    return value;
  }

  set(id: SiteId, value: Value): void {
    if (this.#watchers.has(id)) {
      this.#watched.set(id, value);
      return;
    }
    this.#remove(id);
    this.#others.set(id, value);
    this.#weight += weightOf(value);
    for (const oldest of this.#others.keys()) {
      if (this.#weight <= this.#limit || oldest === id) return;
      this.#remove(oldest);
    }
  }

  /** Every call needs a call of `unwatch`. */
  watch(id: SiteId): void {
    const watchers = this.#watchers.get(id) ?? 0;
    this.#watchers.set(id, watchers + 1);
    if (watchers > 0) return;
    const value = this.#remove(id);
    if (value !== undefined) this.#watched.set(id, value);
  }

  unwatch(id: SiteId): void {
    const watchers = this.#watchers.get(id) ?? 0;
    if (watchers > 1) {
      this.#watchers.set(id, watchers - 1);
      return;
    }
    this.#watchers.delete(id);
    const value = this.#watched.get(id);
    this.#watched.delete(id);
    if (value !== undefined) this.set(id, value);
  }

  clear(): void {
    this.#watched.clear();
    this.#others.clear();
    this.#weight = 0;
  }

  #remove(id: SiteId): Value | undefined {
    const value = this.#others.get(id);
    if (value === undefined) return undefined;
    this.#others.delete(id);
    this.#weight -= weightOf(value);
    return value;
  }
}

/** A site without queues takes room, too. */
function weightOf({ weight }: Weighed): number {
  return weight + 1;
}
