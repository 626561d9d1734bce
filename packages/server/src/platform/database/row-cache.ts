import { BoundedMap } from '../bounded-map.ts';
import type { RowChanges } from './row-changes.ts';

interface RowCacheOptions<Value> {
  readonly changes: RowChanges;
  /** The tables whose changes carry the key of a cached row as their id. */
  readonly tables: readonly string[];
  readonly load: (key: string) => Promise<Value>;
  /** The maximum number of entries; the oldest is evicted first. */
  readonly limit: number;
}

/**
 * Caches rows by key for as long as `RowChanges` is live. While it is deaf, every read goes to the database.
 *
 * Invariant: a cached row was read after the last change received for its key. A row that changes while it is being
 * read is returned but not cached: every change increments `epoch`, and a read that began in an earlier epoch is not stored.
 */
export class RowCache<Value> {
  readonly #cached: BoundedMap<string, Value>;
  readonly #options: RowCacheOptions<Value>;
  #epoch = 0;

  constructor(options: RowCacheOptions<Value>) {
    this.#options = options;
    this.#cached = new BoundedMap(options.limit);
    for (const table of options.tables) options.changes.on(table, (key) => this.drop(key));
    options.changes.onReset(() => this.clear());
  }

  /** The cached row, without waiting; `undefined` if the row must be read. */
  peek(key: string): Value | undefined {
    if (!this.#options.changes.live) return undefined;
    return this.#cached.get(key);
  }

  async get(key: string): Promise<Value> {
    const cached = this.peek(key);
    return cached === undefined ? this.#read(key) : cached;
  }

  async #read(key: string): Promise<Value> {
    const epoch = this.#epoch;
    const value = await this.#options.load(key);
    if (epoch === this.#epoch && this.#options.changes.live) this.#cached.set(key, value);
    return value;
  }

  drop(key: string): void {
    this.#epoch += 1;
    this.#cached.delete(key);
  }

  clear(): void {
    this.#epoch += 1;
    this.#cached.clear();
  }
}
