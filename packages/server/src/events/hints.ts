import type { RowChanges } from '../platform/database/row-changes.ts';
import { isDatabaseUnavailable, type Sql } from '../platform/database/database.ts';
import { newId, type AccountId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import type { EventPayload, EventType } from './catalogue.ts';
import type { About } from './append.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whatever commits the change sends its hint, such as a turn or a batch of writes: none is sent with the response. */
    sendsOwnHint?: true;
  }
}

/**
 * The first hint is sent at once; those that follow within a pause are sent together. The pause is short, because a reader in another
 * process waits for it, and long while much is committed, because each statement costs every process something.
 */
const shortPauseMs = 4;
const longPauseMs = 20;
/** More changes than this since the last statement make the next pause long. */
const fewChanges = 5;
/** One statement sends up to this many hints, and as many whispers. */
const batchSize = 500;

/** A longer whisper stays in this process: the payload of a NOTIFY is limited to 8,000 bytes. */
const maxWhisperBytes = 7_500;
/** Beyond this many unsent whispers the oldest are dropped. */
const maxPendingWhispers = 10_000;

/** Which process has committed: this one, or another. */
type HintSource = 'here' | 'elsewhere';

/** An event for those who listen now. It is not in the log, so nobody can read it later. */
export interface Whisper {
  readonly about: About;
  readonly payload: EventPayload<EventType>;
}

/**
 * Tells readers of the log that something of an account has been committed: this process at once, the others by NOTIFY. The
 * NOTIFYs are batched and sent outside of the committed transactions, because PostgreSQL lets transactions that notify commit
 * one at a time only. A hint may be lost; that costs latency only, because readers of the log also poll. A whisper may be lost, too.
 */
export class Hints {
  readonly #sql: Sql;
  readonly #log: Log;
  /** Names this process in its NOTIFYs, so that it ignores those that come back to it. */
  readonly #name = newId();
  readonly #listeners: ((accountId: AccountId, source: HintSource) => void)[] = [];
  readonly #whisperListeners: ((accountId: AccountId, whisper: Whisper) => void)[] = [];
  readonly #pendingAccounts = new Set<AccountId>();
  #pendingWhispers: string[] = [];
  /** Committed since the last statement. */
  #changes = 0;
  #pause: NodeJS.Timeout | null = null;
  #isSending = false;

  constructor(sql: Sql, changes: RowChanges, log: Log) {
    this.#sql = sql;
    this.#log = log;
    changes.on('told', (note) => {
      const [id = '', by] = note.split(' ');
      if (by !== this.#name) this.#callListeners(id as AccountId, 'elsewhere');
    });
    changes.on('whisper', (note) => {
      const { by, accountId, ...whisper } = JSON.parse(note) as Whisper & { by: string; accountId: AccountId };
      if (by !== this.#name) this.#callWhisperListeners(accountId, whisper);
    });
  }

  /** Calls `listener` for every account of which something was committed, in whichever process. */
  on(listener: (accountId: AccountId, source: HintSource) => void): void {
    this.#listeners.push(listener);
  }

  onWhisper(listener: (accountId: AccountId, whisper: Whisper) => void): void {
    this.#whisperListeners.push(listener);
  }

  /**
   * The hint as the payload of a NOTIFY, for a transaction that notifies anyway: it wakes the other processes once instead of twice.
   * After the commit, call `notifyHere`.
   */
  payload(accountId: AccountId): string {
    return `told:${accountId} ${this.#name}`;
  }

  /** Call this after the commit of a transaction that has sent `payload` to the other processes. */
  notifyHere(accountId: AccountId): void {
    this.#callListeners(accountId, 'here');
  }

  /** Call this after the commit of so many changes. */
  notify(accountId: AccountId, changes = 1): void {
    this.#callListeners(accountId, 'here');
    this.#pendingAccounts.add(accountId);
    this.#changes += changes;
    this.#sendSoon();
  }

  /** Sends a whisper to the listeners of all processes. Whispers of one process arrive in order. */
  whisper(accountId: AccountId, whisper: Whisper): void {
    this.#callWhisperListeners(accountId, whisper);
    const text = `whisper:${JSON.stringify({ by: this.#name, accountId, ...whisper })}`;
    if (Buffer.byteLength(text) > maxWhisperBytes) return;
    if (this.#pendingWhispers.push(text) > maxPendingWhispers) this.#pendingWhispers.shift();
    this.#sendSoon();
  }

  stop(): void {
    if (this.#pause !== null) clearTimeout(this.#pause);
  }

  #callListeners(accountId: AccountId, source: HintSource): void {
    for (const listener of this.#listeners) listener(accountId, source);
  }

  #callWhisperListeners(accountId: AccountId, whisper: Whisper): void {
    for (const listener of this.#whisperListeners) listener(accountId, whisper);
  }

  /** Sends what is pending, unless a statement or a pause is under way: then it is sent at the end of both. */
  #sendSoon(): void {
    if (this.#isSending || this.#pause !== null) return;
    if (this.#pendingAccounts.size === 0 && this.#pendingWhispers.length === 0) return;
    this.#isSending = true;
    const pauseMs = this.#changes > fewChanges ? longPauseMs : shortPauseMs;
    this.#changes = 0;
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#sendSoon();
    }, pauseMs).unref();
    // Hints of the requests that are answered together go into one statement.
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    const accounts = [...this.#pendingAccounts].slice(0, batchSize);
    for (const account of accounts) this.#pendingAccounts.delete(account);
    const notes = [...accounts.map((id) => this.payload(id)), ...this.#pendingWhispers.splice(0, batchSize)];
    const sql = this.#sql;
    // One statement at a time: two could send whispers out of order.
    try {
      await sql`SELECT pg_notify('usher_changes', note) FROM unnest(${notes}::text[]) AS note`;
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        this.#log.warn({ err: error }, 'could not notify other processes of new events');
    } finally {
      this.#isSending = false;
      this.#sendSoon();
    }
  }
}
