import type { Sql as PoolSql } from 'postgres';
import { connect, type DatabaseAddress, type Sql } from './database.ts';
import { pools } from './pools.ts';

/** The process proves so often that its session is still there. */
const beatMs = 500;
/** Without such a proof for so long, the process takes its session for lost and does nothing in its name. */
const lostAfterMs = 1_500;
/**
 * Others take over what belongs to a session that they have seen gone for so long. It is longer than `lostAfterMs`: by then
 * the owner has stopped, even where its connection broke without a word.
 */
export const takeOverAfterMs = 2_000;

/** A connection that leaves so small a question without an answer for so long is given up, and another one opened. */
const answerMs = 3_000;

/** The first of the two keys of the advisory lock; the second is the number of the session. No other lock has two keys. */
const lockSpace = 0x75736872;

/**
 * One connection for as long as the process lives, by which others can tell that it does.
 *
 * The session holds an advisory lock by its number. PostgreSQL releases the lock when the session ends: at once when the
 * process is killed, or its connection is closed. A session that was lost is followed by another, with another number: what
 * was leased under the old one must be renewed under the new one. (A pooler that shares sessions is refused at the start.)
 */
export class DatabaseSession {
  readonly #client: PoolSql;
  #number = 0;
  #backend = 0;
  /** When the last beat that was answered had been sent, by the monotonic clock. */
  #provedAt = -Infinity;
  #isClosed = true;
  readonly #opened: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  private constructor(address: DatabaseAddress) {
    const onclose = (): void => {
      this.#isClosed = true;
      this.#provedAt = -Infinity;
    };
    this.#client = connect(address, { ...pools.session, statementDeadlineMs: answerMs, onclose });
  }

  static async open(address: DatabaseAddress): Promise<DatabaseSession> {
    const session = new DatabaseSession(address);
    try {
      await session.#beat();
    } catch (error) {
      await session.close();
      throw error;
    }
    session.#schedule();
    return session;
  }

  /** Statements on the session's own connection: nobody else's are in their way. */
  get sql(): Sql {
    return this.#client;
  }

  get number(): number {
    return this.#number;
  }

  /** Whether others still see the session. */
  isHeld(now = performance.now()): boolean {
    return now - this.#provedAt < lostAfterMs;
  }

  /** Calls `opened` whenever there is another session than before. */
  onOpened(opened: () => void): void {
    this.#opened.push(opened);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#client.end({ timeout: 1 });
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#beat()
        // The database is away; the next beat finds out when it is back.
        .catch(() => undefined)
        .finally(() => this.#schedule());
    }, beatMs).unref();
  }

  async #beat(): Promise<void> {
    if (this.#isClosed) return this.#lock();
    const sentAt = performance.now();
    const [row] = await this.#client<{ backend: number }[]>`SELECT pg_backend_pid() AS backend`;
    // Another backend answers: the session is lost, and the next beat takes another lock.
    if (row?.backend !== this.#backend) this.#isClosed = true;
    if (!this.#isClosed) this.#provedAt = sentAt;
  }

  async #lock(): Promise<void> {
    this.#isClosed = false;
    const sentAt = performance.now();
    try {
      const [row] = await this.#client<{ number: number; backend: number }[]>`
        SELECT number, pg_backend_pid() AS backend, pg_advisory_lock(${lockSpace}, number)
          FROM (SELECT nextval('session_numbers')::integer AS number) AS next`;
      if (row === undefined) throw new Error('a session got no number');
      // Lost again before the answer was read: the next beat tries anew.
      if (this.#isClosed) return;
      this.#number = row.number;
      this.#backend = row.backend;
      this.#provedAt = sentAt;
    } catch (error) {
      this.#isClosed = true;
      throw error;
    }
    for (const opened of this.#opened) opened();
  }
}

/** Which of the sessions are gone. A session that is there holds its lock exclusively, and a shared one cannot be had. */
export function isGone(sql: Sql, number: ReturnType<Sql>) {
  return sql`pg_try_advisory_xact_lock_shared(${lockSpace}, ${number})`;
}
