import { connect, type DatabaseAddress, type SqlFragment, type PoolSql, type Sql } from './database.ts';
import { pools } from './pools.ts';

/** How often the process confirms that its session still exists. */
const beatMs = 500;
/** After this time without confirmation, the process treats its session as lost and stops using its leases. */
const lostAfterMs = 1_500;
/**
 * Other processes take over the leases of a session that has been gone for this time. It is longer than `lostAfterMs`: by then
 * the owner has stopped, even if its connection failed silently.
 */
export const takeOverAfterMs = 2_000;

/** A heartbeat that is not answered within this time makes the process open another connection. */
const answerMs = 3_000;

/** The first key of the advisory lock; the second key is the number of the session. No other lock of Usher has two keys. */
const lockSpace = 0x75736872;

/**
 * One database connection that is open as long as the process lives, so that other processes can tell whether it lives.
 *
 * The session holds an advisory lock on its number. PostgreSQL releases the lock when the session ends: at once when the
 * process is killed or its connection is closed. A lost session is replaced by one with another number, and leases of the old
 * session must be renewed under the new one. (`session-check.ts` refuses a pooler that shares sessions.)
 */
export class DatabaseSession {
  readonly #client: PoolSql;
  #number = 0;
  #backend = 0;
  /** When the last answered heartbeat was sent, by the monotonic clock. */
  #confirmedAt = -Infinity;
  #isClosed = true;
  readonly #opened: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  private constructor(address: DatabaseAddress) {
    const onConnectionClosed = (): void => {
      this.#isClosed = true;
      this.#confirmedAt = -Infinity;
    };
    this.#client = connect(address, { ...pools.session, statementDeadlineMs: answerMs, onConnectionClosed });
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

  /** The session's own connection, where statements never wait behind others. */
  get sql(): Sql {
    return this.#client;
  }

  get number(): number {
    return this.#number;
  }

  /** Whether others still see the session. */
  isAlive(now = performance.now()): boolean {
    return now - this.#confirmedAt < lostAfterMs;
  }

  /** Calls `opened` whenever a new session has replaced a lost one. */
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
        // The database is unavailable; the next heartbeat tries again.
        .catch(() => undefined)
        .finally(() => this.#schedule());
    }, beatMs).unref();
  }

  async #beat(): Promise<void> {
    if (this.#isClosed) return this.#lock();
    const sentAt = performance.now();
    const [row] = await this.#client<{ backend: number }[]>`SELECT pg_backend_pid() AS backend`;
    // Another backend answered, so the session is lost; the next heartbeat opens a new one.
    if (row?.backend !== this.#backend) this.#isClosed = true;
    if (!this.#isClosed) this.#confirmedAt = sentAt;
  }

  async #lock(): Promise<void> {
    this.#isClosed = false;
    const sentAt = performance.now();
    try {
      const [row] = await this.#client<{ number: number; backend: number }[]>`
        SELECT number, pg_backend_pid() AS backend, pg_advisory_lock(${lockSpace}, number)
          FROM (SELECT nextval('session_numbers')::integer AS number) AS next`;
      if (row === undefined) throw new Error('a session got no number');
      // The connection closed before the answer was read; the next heartbeat tries again.
      if (this.#isClosed) return;
      this.#number = row.number;
      this.#backend = row.backend;
      this.#confirmedAt = sentAt;
    } catch (error) {
      this.#isClosed = true;
      throw error;
    }
    for (const opened of this.#opened) opened();
  }
}

/** SQL condition: the session has ended. A live session holds its lock exclusively, so a shared lock is refused. */
export function isGone(sql: Sql, number: SqlFragment) {
  return sql`pg_try_advisory_xact_lock_shared(${lockSpace}, ${number})`;
}
