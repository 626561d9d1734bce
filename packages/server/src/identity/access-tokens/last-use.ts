import type { Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import { writeLastUse } from './store.ts';

const everyMs = 60_000;
/** Tokens beyond so many are noted a minute later. */
const mostNoted = 10_000;

/**
 * Stores when long-lived tokens were last used. A request only notes the token in memory, and one statement a minute writes what
 * was noted: so nobody waits for it, and a busy token costs no more than a quiet one.
 */
export class LastUse {
  readonly #sql: Sql;
  readonly #log: Log;
  #noted = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(sql: Sql, log: Log) {
    this.#sql = sql;
    this.#log = log;
    this.#timer = setInterval(() => void this.#write(), everyMs).unref();
  }

  note(id: string): void {
    if (this.#noted.size < mostNoted) this.#noted.add(id);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#write();
  }

  async #write(): Promise<void> {
    if (this.#noted.size === 0) return;
    const ids = [...this.#noted];
    this.#noted.clear();
    try {
      await writeLastUse(this.#sql, ids);
    } catch (error) {
      // The next request with a token notes it again.
      this.#log.warn({ err: error }, 'could not store when access tokens were last used');
    }
  }
}
