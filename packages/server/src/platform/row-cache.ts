import { BoundedMap } from './bounded-map.ts';
import type { ChangeFeed } from './change-feed.ts';

interface RowCacheOptions<Value> {
  readonly feed: ChangeFeed;
  /** The tables whose changes are announced under the key. */
  readonly tables: readonly string[];
  readonly load: (key: string) => Promise<Value>;
  /** The most entries kept; the one held for longest goes first. */
  readonly limit: number;
}

/**
 * Rows kept in memory by key, as fresh as the change feed is. While the feed is deaf every read goes to the database.
 *
 * Invariant: what is held was read after the last change heard of for its key. A row that changes while it is being
 * read is answered but not kept: `epoch` moves with every change, and a read that began in another epoch is not stored.
 */
export class RowCache<Value> {
  readonly #held: BoundedMap<string, Value>;
  readonly #options: RowCacheOptions<Value>;
  #epoch = 0;

  constructor(options: RowCacheOptions<Value>) {
    this.#options = options;
    this.#held = new BoundedMap(options.limit);
    for (const table of options.tables) options.feed.on(table, (key) => this.drop(key));
    options.feed.onReset(() => this.clear());
  }

  /** What is held for the key, without waiting; `undefined` if it must be read. */
  peek(key: string): Value | undefined {
    if (!this.#options.feed.live) return undefined;
    return this.#held.get(key);
  }

  async get(key: string): Promise<Value> {
    const held = this.peek(key);
    return held === undefined ? this.#read(key) : held;
  }

  async #read(key: string): Promise<Value> {
    const epoch = this.#epoch;
    const value = await this.#options.load(key);
    if (epoch === this.#epoch && this.#options.feed.live) this.#held.set(key, value);
    return value;
  }

  /** What is held for the key is no longer so. */
  drop(key: string): void {
    this.#epoch += 1;
    this.#held.delete(key);
  }

  clear(): void {
    this.#epoch += 1;
    this.#held.clear();
  }
}
