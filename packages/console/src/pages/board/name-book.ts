import { maxVisitorIds } from '@usher/contract/limits';
import type { Topics } from './store/topics.ts';

/** Rows that come into view together are asked for together. */
const gatherMs = 30;
/** Names that are kept; when there are more, the oldest are asked for again should they come into view again. */
const mostKept = 5_000;

type Ask = (ids: readonly string[]) => Promise<readonly { readonly id: string; readonly name: string | null }[]>;

/** What visitors are called, asked for when somebody looks at them: of thousands who wait a few are seen. */
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

  /** `null` for one without a name, or whose name is not known yet. */
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
      // A board without names is still a board. They are asked for again with the next row that is drawn.
    }
    this.#timer = this.#wanted.size === 0 ? null : setTimeout(() => void this.#askNow(), gatherMs);
  }
}
