import { maxVisitorIds } from '@usher/contract/limits';
import type { Topics } from './store/topics.ts';

/** Rows that come into view together are requested together. */
const batchMs = 30;
/** The size of the cache; evicted names are requested again when they come into view. */
const maxCached = 5_000;

type FetchNames = (ids: readonly string[]) => Promise<readonly { readonly id: string; readonly name: string | null }[]>;

/** A cache of visitor names, filled on demand: of thousands who wait only a few are in view. */
export class NameCache {
  readonly #fetch: FetchNames;
  readonly #topics: Topics;
  readonly #names = new Map<string, string | null>();
  readonly #pendingIds = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(fetchNames: FetchNames, topics: Topics) {
    this.#fetch = fetchNames;
    this.#topics = topics;
  }

  /** `null` for a visitor without a name, and while the name loads. */
  nameOf(visitorId: string): string | null {
    const cached = this.#names.get(visitorId);
    if (cached !== undefined) return cached;
    this.#pendingIds.add(visitorId);
    if (this.#timer === null) this.#timer = setTimeout(() => void this.#fetchPending(), batchMs);
    return null;
  }

  async #fetchPending(): Promise<void> {
    const ids = [...this.#pendingIds].slice(0, maxVisitorIds);
    for (const id of ids) this.#pendingIds.delete(id);
    try {
      const found = new Map((await this.#fetch(ids)).map(({ id, name }) => [id, name]));
      for (const id of ids) this.#names.set(id, found.get(id) ?? null);
      for (const id of this.#names.keys()) {
        if (this.#names.size <= maxCached) break;
        this.#names.delete(id);
      }
      this.#topics.markDirty('names');
    } catch {
      // The board works without names. The next rendered row requests them again.
    }
    this.#timer = this.#pendingIds.size === 0 ? null : setTimeout(() => void this.#fetchPending(), batchMs);
  }
}
