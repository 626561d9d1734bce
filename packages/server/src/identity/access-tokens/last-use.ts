import type { Sql } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { writeLastUse } from './store.ts';

const flushIntervalMs = 60_000;
/** Further tokens are marked after the next flush. */
const maxPendingIds = 10_000;

/**
 * Stores when access tokens were last used. A request marks its token in memory, and one statement a minute writes all marked
 * tokens. So no request waits for the write, and a busy token costs no more than a quiet one.
 */
export class LastUse {
  readonly #sql: Sql;
  readonly #log: Log;
  #pendingIds = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
    this.#timer = setInterval(() => void this.#flush(), flushIntervalMs).unref();
  }

  markUsed(id: string): void {
    if (this.#pendingIds.size < maxPendingIds) this.#pendingIds.add(id);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#pendingIds.size === 0) return;
    const ids = [...this.#pendingIds];
    this.#pendingIds.clear();
    try {
      await writeLastUse(this.#sql, ids);
    } catch (error) {
      // The next request with the token marks it again.
      this.#log.warn({ err: error }, 'could not store when access tokens were last used');
    }
  }
}
