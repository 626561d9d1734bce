import { maxVisitorIds } from '@usher/contract/limits';
import type { Topics } from './store/topics.ts';

/** Rows that come into view together are requested together. */
const gatherMs = 30;
/** The size of the cache; evicted names are requested again when they come into view. */
const mostKept = 5_000;

type Ask = (ids: readonly string[]) => Promise<readonly { readonly id: string; readonly name: string | null }[]>;

/** A cache of visitor names, filled on demand: of thousands who wait only a few are in view. */
export class NameBook {
  readonly #ask: Ask;
  readonly #topics: Topics;
  readonly #names = new Map<string, string | null>();
  readonly #wanted = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(ask: Ask, topics: Topics) {
    this.#ask = ask;
    this.#topics = topics;
  }

  /** `null` for a visitor without a name, and while the name loads. */
  nameOf(visitorId: string): string | null {
    const known = this.#names.get(visitorId);
    if (known !== undefined) return known;
    this.#wanted.add(visitorId);
    if (this.#timer === null) this.#timer = setTimeout(() => void this.#askNow(), gatherMs);
    return null;
  }

  async #askNow(): Promise<void> {
    const ids = [...this.#wanted].slice(0, maxVisitorIds);
    for (const id of ids) this.#wanted.delete(id);
    try {
      const found = new Map((await this.#ask(ids)).map(({ id, name }) => [id, name]));
      for (const id of ids) this.#names.set(id, found.get(id) ?? null);
      for (const id of this.#names.keys()) {
        if (this.#names.size <= mostKept) break;
        this.#names.delete(id);
      }
      this.#topics.touch('names');
    } catch {
      // The board works without names. The next rendered row requests them again.
    }
    this.#timer = this.#wanted.size === 0 ? null : setTimeout(() => void this.#askNow(), gatherMs);
  }
}
