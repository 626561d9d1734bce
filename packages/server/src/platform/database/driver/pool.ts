import { Connection, type ConnectionOwner } from './connection.ts';
import { endedPool, lostConnection, tooLate } from './errors.ts';
import { openClient, type OpenOptions } from './open-connection.ts';
import type { PendingStatement, StatementKind } from './template.ts';
import { Transaction, type Work } from './transaction.ts';

export interface ConnectionPoolOptions extends OpenOptions {
  readonly size: number;
  /** An unused connection is closed after this time; 0 for never. */
  readonly idleTimeoutMs: number;
  /** A connection is replaced after this time, when nothing uses it; 0 for never. */
  readonly maxLifetimeMs: number;
  /** The pause after this many connections could not be opened in a row. */
  readonly backoffMs: (failures: number) => number;
  readonly onNotification: (channel: string, payload: string) => void;
  readonly onConnectionClosed: () => void;
  /** For tests. */
  readonly onStatement: (text: string) => void;
}

/** How busy a pool is, and what waiting for its connections has cost since the start. */
export interface PoolLoad {
  /** Connections that run a statement or belong to a transaction. */
  readonly inUse: number;
  /** Open connections that nothing uses. */
  readonly idle: number;
  /** Statements and transactions that wait although no connection is being opened for them: the pool has its size. */
  readonly waiting: number;
  /** How long the first of them has waited. */
  readonly oldestWaitMs: number;
  /** Statements that had to wait, and the sum of their waits. */
  readonly waits: number;
  readonly waitedMs: number;
  /** Statements that were rejected because they waited for too long. */
  readonly timeouts: number;
}

/** A connection as the watch sees it. */
export interface Channel {
  readonly key: object;
  /** What the server has to answer next; a new object for each statement. */
  readonly unanswered: object | null;
  destroy(): void;
}

/** A statement that waits for no lock may follow others on a connection. */
export type Need = 'place' | 'connection';

/** What waits for a connection: a statement, or a transaction. */
interface Waiting {
  readonly since: number;
  readonly need: Need;
  take(connection: Connection): void;
  reject(error: Error): void;
  /** A connection was opened for it, so it has not waited because the pool is busy, which is what the load reports. */
  opens: boolean;
}

/** So many statements are sent on a connection before the first is answered. */
const maxPipeline = 100;
/** After so long without a connection, a failure to open one rejects what waits. */
const patienceMs = 1_000;

/**
 * Connections that share the statements of a process.
 *
 * A statement goes to an idle connection. If there is none, it waits in a queue: for a connection that becomes idle, or for a new one until the
 * pool has its size; then it is sent behind the statements of a busy connection. A transaction takes an idle connection, or claims a busy
 * one, which then gets no more statements: the transaction begins when those under way are answered, so that what ends the transaction does
 * not end them.
 *
 * A statement that may wait for a lock (`Need`) has a connection for itself, or others would wait behind it.
 *
 * If no connection can be opened, the open ones do the work of all. What waits is rejected if none is open, or if it has waited for a second:
 * then all belong to transactions.
 */
export class Pool implements ConnectionOwner {
  readonly #options: ConnectionPoolOptions;
  /** With the instant at which each was opened. */
  readonly #connections = new Map<Connection, number>();
  readonly #opening = new Set<AbortController>();
  readonly #queue: Waiting[] = [];
  /** Busy connections and the transactions that wait for them. */
  readonly #claims = new Map<Connection, Waiting>();
  /** Connections that run a statement which others must not follow, because it may wait for a lock. */
  readonly #alone = new Set<Connection>();
  /** Connections that get no more statements, because they are old. */
  readonly #retired = new Set<Connection>();
  /** Connections that nothing uses, those that are idle for longest first. */
  readonly #idleSince = new Map<Connection, number>();
  /** Connections that are being closed, which the server still counts. */
  readonly #closing = new Set<Connection>();
  readonly #waits = { waits: 0, waitedMs: 0, timeouts: 0 };
  #failures = 0;
  #failedAt = 0;
  #refuses: () => boolean = () => false;
  #end: PromiseWithResolvers<void> | null = null;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  /** What a server may be silent on: connections that are open, being opened or being closed. */
  get channels(): readonly Channel[] {
    const opening = [...this.#opening].map((key) => ({ key, unanswered: key, destroy: () => key.abort() }));
    const closing = [...this.#closing].map((key) => ({ key, unanswered: key, destroy: () => key.destroy() }));
    const open = [...this.#connections.keys()].map((key) => ({
      key,
      unanswered: key.unanswered,
      destroy: () => key.destroy(),
    }));
    return [...open, ...opening, ...closing];
  }

  run(pending: PendingStatement, need: Need): void {
    this.#place({
      since: performance.now(),
      need,
      opens: false,
      take: (connection) => {
        if (need === 'connection') this.#alone.add(connection);
        connection.run(pending);
      },
      reject: pending.reject,
    });
  }

  async transact<T>(begin: string, kind: StatementKind, work: Work<T>): Promise<T> {
    const transaction = await new Promise<Transaction>((resolve, reject) => {
      // The connection is reserved at once, so that no statement comes in between.
      const take = (connection: Connection): void => resolve(new Transaction(connection, begin, kind));
      this.#place({ since: performance.now(), need: 'connection', opens: false, take, reject });
    });
    return transaction.run(work);
  }

  /** Rejects statements at once while `refuses` returns true. */
  refuseWhile(refuses: () => boolean): void {
    this.#refuses = refuses;
  }

  load(): PoolLoad {
    const waiting = this.#queue.filter(({ opens }) => !opens);
    const [oldest] = waiting;
    return {
      inUse: this.#connections.size - this.#idleSince.size,
      idle: this.#idleSince.size,
      waiting: waiting.length,
      oldestWaitMs: oldest === undefined ? 0 : performance.now() - oldest.since,
      ...this.#waits,
    };
  }

  /** Rejects what has waited for a connection since before this instant of `performance.now()`. */
  rejectQueued(before: number): void {
    this.#waits.timeouts += this.#reject(before, tooLate('no connection to the database became free in time'));
  }

  /** Returns how many. */
  #reject(before: number, reason: Error): number {
    let count = 0;
    for (let first = this.#queue[0]; first !== undefined && first.since < before; first = this.#queue[0]) {
      count += 1;
      this.#dequeue()?.reject(reason);
    }
    return count;
  }

  /** Destroys every connection and rejects everything that waits. */
  abandon(): void {
    for (const controller of this.#opening) controller.abort();
    for (const connection of [...this.#connections.keys(), ...this.#closing]) connection.destroy();
    this.rejectQueued(Infinity);
  }

  /** Closes connections that are idle for too long or too old. */
  retire(now = performance.now()): void {
    const { idleTimeoutMs, maxLifetimeMs } = this.#options;
    for (const [connection, openedAt] of this.#connections) {
      if (maxLifetimeMs > 0 && now - openedAt > maxLifetimeMs) this.#retired.add(connection);
      const idleMs = now - (this.#idleSince.get(connection) ?? now);
      if (idleTimeoutMs > 0 && idleMs > idleTimeoutMs) this.#retired.add(connection);
      if (this.#retired.has(connection) && this.#isFree(connection)) this.#close(connection);
    }
  }

  async end(timeoutSec: number | null): Promise<void> {
    this.#end ??= Promise.withResolvers();
    const timer = timeoutSec === null ? undefined : setTimeout(() => this.abandon(), timeoutSec * 1_000);
    this.#continueEnd();
    await this.#end.promise;
    clearTimeout(timer);
  }

  onProgress(connection: Connection): void {
    if (this.#isFree(connection)) this.#onFree(connection);
    this.#dispatch();
    this.#continueEnd();
  }

  onStatement(text: string): void {
    this.#options.onStatement(text);
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    this.#alone.delete(connection);
    this.#retired.delete(connection);
    this.#idleSince.delete(connection);
    const claim = this.#claims.get(connection);
    this.#claims.delete(connection);
    claim?.reject(lostConnection('the connection to the database was lost'));
    this.#options.onConnectionClosed();
    this.#dispatch();
    this.#continueEnd();
  }

  #place(waiting: Waiting): void {
    if (this.#end !== null) return waiting.reject(endedPool());
    if (this.#refuses()) return waiting.reject(tooLate('the database does not respond'));
    if (this.#queue.length > 0 || !this.#assign(waiting)) {
      const before = this.#opening.size;
      this.#queue.push(waiting);
      this.#openIfNeeded();
      waiting.opens = this.#opening.size > before;
    }
  }

  #dispatch(): void {
    for (let first = this.#queue[0]; first !== undefined && this.#assign(first); first = this.#queue[0])
      this.#dequeue();
    this.#openIfNeeded();
  }

  #dequeue(): Waiting | undefined {
    const first = this.#queue.shift();
    if (first !== undefined && !first.opens) {
      this.#waits.waits += 1;
      this.#waits.waitedMs += performance.now() - first.since;
    }
    return first;
  }

  /** Whether `waiting` got a connection, or a claim on one. */
  #assign(waiting: Waiting): boolean {
    const connection = this.#pick();
    if (connection === null) return false;
    if (waiting.need === 'place' || this.#isFree(connection)) this.#give(connection, waiting);
    else this.#claims.set(connection, waiting);
    return true;
  }

  #give(connection: Connection, waiting: Waiting): void {
    this.#idleSince.delete(connection);
    waiting.take(connection);
    // A statement with an invalid parameter was rejected and not sent.
    if (this.#isFree(connection)) this.#onFree(connection);
  }

  /** The connection that is idle for longest, or else the one with the fewest statements if the pool cannot open another. */
  #pick(): Connection | null {
    const [idle] = this.#idleSince.keys();
    if (idle !== undefined) return idle;
    if (!this.#isFull && this.#failures === 0) return null;
    let best: Connection | null = null;
    for (const connection of this.#connections.keys()) {
      const isTaken = connection.isReserved || this.#alone.has(connection) || this.#claims.has(connection);
      if (isTaken || !connection.accepts || this.#retired.has(connection)) continue;
      if (connection.load < (best?.load ?? maxPipeline)) best = connection;
    }
    return best;
  }

  get #isFull(): boolean {
    return this.#connections.size + this.#opening.size + this.#closing.size >= this.#options.size;
  }

  #isFree(connection: Connection): boolean {
    return connection.accepts && connection.load === 0 && !connection.isReserved;
  }

  #onFree(connection: Connection): void {
    this.#alone.delete(connection);
    const claim = this.#claims.get(connection);
    this.#claims.delete(connection);
    if (claim !== undefined) this.#give(connection, claim);
    else if (this.#retired.has(connection)) this.#close(connection);
    else this.#idleSince.set(connection, performance.now());
  }

  /** Opens a connection for each that waits. After a failure only one at a time. */
  #openIfNeeded(): void {
    while (
      !this.#isFull &&
      this.#opening.size < this.#queue.length &&
      (this.#failures === 0 || this.#opening.size === 0)
    )
      this.#open();
  }

  #open(): void {
    const controller = new AbortController();
    this.#opening.add(controller);
    const pauseMs =
      this.#failures === 0 ? 0 : this.#options.backoffMs(this.#failures) - (performance.now() - this.#failedAt);
    const opened = pause(pauseMs).then(async () => openClient(this.#options, controller.signal));
    opened.then(
      (client) => {
        this.#opening.delete(controller);
        this.#failures = 0;
        client.on('notification', ({ channel, payload }) => this.#options.onNotification(channel, payload ?? ''));
        const connection = new Connection(client, this);
        this.#connections.set(connection, performance.now());
        this.onProgress(connection);
      },
      (error: unknown) => {
        this.#opening.delete(controller);
        this.#failures += 1;
        this.#failedAt = performance.now();
        const reason = error instanceof Error ? error : new Error(String(error));
        if (this.#opening.size === 0 && this.#connections.size === 0) this.#reject(Infinity, reason);
        else {
          this.#dispatch();
          this.#reject(performance.now() - patienceMs, reason);
        }
        this.#continueEnd();
      },
    );
  }

  #close(connection: Connection): void {
    this.#closing.add(connection);
    connection
      .end()
      .catch(() => undefined)
      .finally(() => {
        this.#closing.delete(connection);
        this.#dispatch();
        this.#continueEnd();
      });
  }

  /** Closes what is free. The pool has ended when nothing is open. */
  #continueEnd(): void {
    if (this.#end === null || this.#queue.length > 0) return;
    for (const controller of this.#opening) controller.abort();
    for (const connection of this.#connections.keys()) if (this.#isFree(connection)) this.#close(connection);
    if (this.#connections.size + this.#opening.size + this.#closing.size === 0) this.#end.resolve();
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
