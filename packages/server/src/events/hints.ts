import type { ChangeFeed } from '../platform/change-feed.ts';
import { isDatabaseUnavailable, type Sql } from '../platform/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';

/** The first hint goes at once; those that follow within this time go together after it. */
const batchMs = 20;
/** So many accounts are named in one statement; the others go with the next. */
const accountsInBatch = 500;

/**
 * Says that something of an account has been committed: to this process at once, to the others by NOTIFY, gathered and
 * outside of the transactions that did it (PostgreSQL lets transactions that notify commit one at a time). A hint may be
 * lost, and costs nothing but time then: whoever follows the log also looks by itself.
 */
export class Hints {
  readonly #sql: Sql;
  readonly #log: Log;
  /** Ours come back to us too, and we have heard them. */
  readonly #name = newId();
  readonly #listeners: ((accountId: AccountId) => void)[] = [];
  readonly #waiting = new Set<AccountId>();
  #timer: NodeJS.Timeout | null = null;

  constructor(sql: Sql, feed: ChangeFeed, log: Log) {
    this.#sql = sql;
    this.#log = log;
    feed.on('told', (told) => {
      const [id = '', by] = told.split(' ');
      if (by !== this.#name) this.#hear(id as AccountId);
    });
  }

  /** Calls `heard` for every account of which something was committed, in whichever process. */
  on(heard: (accountId: AccountId) => void): void {
    this.#listeners.push(heard);
  }

  /** To be called after the commit. */
  tell(accountId: AccountId): void {
    this.#hear(accountId);
    this.#waiting.add(accountId);
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => this.#again(), batchMs).unref();
    void this.#send();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #hear(accountId: AccountId): void {
    for (const heard of this.#listeners) heard(accountId);
  }

  #again(): void {
    this.#timer = null;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#again(), batchMs).unref();
    void this.#send();
  }

  async #send(): Promise<void> {
    const accounts = [...this.#waiting].slice(0, accountsInBatch);
    for (const account of accounts) this.#waiting.delete(account);
    const sql = this.#sql;
    try {
      await sql`SELECT pg_notify('usher_changes', 'told:' || id || ' ' || ${this.#name}::text)
                        FROM unnest(${accounts}::uuid[]) AS id`;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#log.warn({ err: error }, 'a hint could not be sent');
    }
  }
}
