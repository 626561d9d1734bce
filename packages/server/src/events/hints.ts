import type { RowChanges } from '../platform/row-changes.ts';
import { isDatabaseUnavailable, type Sql } from '../platform/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { EventPayload, EventType } from './catalogue.ts';
import type { About } from './append.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route stores nothing that anybody would look for, whatever its method. */
    changesNothing?: true;
  }
}

/** The first hint goes at once; those that follow within this time go together after it. */
const batchMs = 20;
/** So many accounts, and as many whispers, go in one statement; the others with the next. */
const inBatch = 500;

/** Longer ones stay in this process: a notification has 8,000 bytes. */
const longestWhisper = 7_500;
/** So many may wait to be passed on; the oldest are dropped first. */
const mostWhispers = 10_000;

/** Which process has done it: this one, or another. */
type Where = 'here' | 'elsewhere';

/** Something to be heard now or never: it is not in the log. */
export interface Whisper {
  readonly about: About;
  readonly payload: EventPayload<EventType>;
}

/**
 * Says that something of an account has been committed: to this process at once, to the others by NOTIFY, gathered and
 * outside of the transactions that did it (PostgreSQL lets transactions that notify commit one at a time). A hint may be
 * lost, and costs nothing but time then: whoever follows the log also looks by itself. What is whispered may be lost too.
 */
export class Hints {
  readonly #sql: Sql;
  readonly #log: Log;
  /** Ours come back to us too, and we have heard them. */
  readonly #name = newId();
  readonly #listeners: ((accountId: AccountId, where: Where) => void)[] = [];
  readonly #whisperListeners: ((accountId: AccountId, whisper: Whisper) => void)[] = [];
  readonly #waiting = new Set<AccountId>();
  #whispers: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #sending = false;

  constructor(sql: Sql, changes: RowChanges, log: Log) {
    this.#sql = sql;
    this.#log = log;
    changes.on('told', (note) => {
      const [id = '', by] = note.split(' ');
      if (by !== this.#name) this.#hear(id as AccountId, 'elsewhere');
    });
    changes.on('whisper', (note) => {
      const { by, accountId, ...whisper } = JSON.parse(note) as Whisper & { by: string; accountId: AccountId };
      if (by !== this.#name) this.#overhear(accountId, whisper);
    });
  }

  /** Calls `heard` for every account of which something was committed, in whichever process. */
  on(heard: (accountId: AccountId, where: Where) => void): void {
    this.#listeners.push(heard);
  }

  onWhisper(heard: (accountId: AccountId, whisper: Whisper) => void): void {
    this.#whisperListeners.push(heard);
  }

  /** To be called after the commit. */
  tell(accountId: AccountId): void {
    this.#hear(accountId, 'here');
    this.#waiting.add(accountId);
    this.#sendSoon();
  }

  /** To those who listen now, here and in other processes, in the order it was said. */
  whisper(accountId: AccountId, whisper: Whisper): void {
    this.#overhear(accountId, whisper);
    const text = `whisper:${JSON.stringify({ by: this.#name, accountId, ...whisper })}`;
    if (Buffer.byteLength(text) > longestWhisper) return;
    if (this.#whispers.push(text) > mostWhispers) this.#whispers.shift();
    this.#sendSoon();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #hear(accountId: AccountId, where: Where): void {
    for (const heard of this.#listeners) heard(accountId, where);
  }

  #overhear(accountId: AccountId, whisper: Whisper): void {
    for (const heard of this.#whisperListeners) heard(accountId, whisper);
  }

  #sendSoon(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => this.#again(), batchMs).unref();
    // One statement at a time, or what was whispered could overtake itself.
    if (!this.#sending) void this.#send();
  }

  #again(): void {
    this.#timer = null;
    if (this.#waiting.size > 0 || this.#whispers.length > 0) this.#sendSoon();
  }

  async #send(): Promise<void> {
    const accounts = [...this.#waiting].slice(0, inBatch);
    for (const account of accounts) this.#waiting.delete(account);
    const notes = [...accounts.map((id) => `told:${id} ${this.#name}`), ...this.#whispers.splice(0, inBatch)];
    const sql = this.#sql;
    this.#sending = true;
    try {
      await sql`SELECT pg_notify('usher_changes', note) FROM unnest(${notes}::text[]) AS note`;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.#log.warn({ err: error }, 'a hint could not be sent');
    } finally {
      this.#sending = false;
    }
  }
}
