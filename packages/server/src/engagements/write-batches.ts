import { isAccountMoving, isDatabaseUnavailable, isTimedOut } from '../platform/database/database.ts';
import type { AccountId, EngagementId } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { FairQueue } from './fair-queue.ts';

/** A write to one engagement: a message, for example. */
export interface EngagementWrite {
  readonly accountId: AccountId;
  readonly engagementId: EngagementId;
}

interface WriteBatchesOptions<Write extends EngagementWrite, Stored> {
  /**
   * Writes those that it can write at once, in one statement, and returns what it stored by engagement. It must not wait for a lock of
   * a row, and must skip a write that is refused or stored already.
   */
  readonly writeBatch: (writes: readonly Write[]) => Promise<ReadonlyMap<EngagementId, Stored>>;
  /** Called after a commit, once for each account of the batch, with the number of its writes. What it throws is logged. */
  readonly onCommitted: (accountId: AccountId, writes: number) => void;
  readonly log: Log;
  /** What is written, for the log: 'messages', for example. */
  readonly subject: string;
}

/** Writes per statement. Statements compare the rows of a batch with each other, which is cheap for so few. */
const maxBatchSize = 64;
/** Batches under way at once. A second one begins when it is large, or when the first is slow: a statement costs as much as ten rows. */
const maxBatchesAtOnce = 2;
const largeBatchSize = maxBatchSize / 2;
const slowBatchMs = 10;
/** Beyond this many waiting writes, further ones are rejected as unavailable (503). */
const maxWaiting = 20_000;
/** A write that has waited longer than this is rejected as unavailable, as a statement is that waits for a connection. */
const longestWaitMs = 10_000;

interface PendingWrite<Write extends EngagementWrite, Stored> {
  readonly write: Write;
  /** Writes it alone, and waits for locks. `null`: it was refused. */
  readonly writeAlone: () => Promise<Stored | null>;
  readonly resolve: (stored: Stored | null) => void;
  readonly reject: (error: unknown) => void;
  /** Monotonic milliseconds. */
  readonly arrivedAt: number;
  /** The next write to the same engagement. */
  next: PendingWrite<Write, Stored> | null;
}

/**
 * Gathers writes to engagements: those that arrive while a batch is under way go into the next batch, which is one statement.
 *
 * Writes of this process to one engagement are made in the order of their arrival, one after the other: a batch has at most one of
 * them, and the next one waits until it is finished. A write is either
 *
 *   waiting   behind another write to its engagement, or for a batch;
 *   in batch  its statement is under way;
 *   single    the batch has skipped it, so it is written by a statement of its own, outside of the batches.
 *
 * The batch decides nothing but "stored": a locked engagement, a refusal and an id that exists already all lead to the single
 * statement. A batch therefore waits for nobody, cannot deadlock, and no write can make the others of its batch fail.
 *
 * Accounts take turns: while many writes of one account wait, a batch has as many of each other account, if that many wait.
 *
 * If the connection is lost, all writes of the batch fail alike, and it is unknown whether they were stored.
 */
export class WriteBatches<Write extends EngagementWrite, Stored> {
  readonly #options: WriteBatchesOptions<Write, Stored>;
  /** The last unfinished write of each engagement. */
  readonly #last = new Map<EngagementId, PendingWrite<Write, Stored>>();
  /** The writes that the next batch may contain, one per engagement. */
  readonly #ready = new FairQueue<AccountId, PendingWrite<Write, Stored>>();
  #unfinished = 0;
  #batches = 0;
  #isScheduled = false;
  #slowBatch: NodeJS.Timeout | null = null;
  #whenFinished: (() => void) | null = null;

  constructor(options: WriteBatchesOptions<Write, Stored>) {
    this.#options = options;
  }

  /** Resolves after the commit; `null`: refused. Rejects with the error of `writeAlone`, or as unavailable. */
  async write(write: Write, writeAlone: () => Promise<Stored | null>): Promise<Stored | null> {
    if (this.#unfinished >= maxWaiting) throw unavailable('CONNECTION_ENDED', 'too many writes are waiting');
    return new Promise((resolve, reject) => {
      const arrivedAt = performance.now();
      const pending: PendingWrite<Write, Stored> = { write, writeAlone, resolve, reject, arrivedAt, next: null };
      const previous = this.#last.get(write.engagementId);
      this.#last.set(write.engagementId, pending);
      this.#unfinished += 1;
      if (previous === undefined) this.#ready.push(write.accountId, pending);
      else previous.next = pending;
      this.#schedule();
    });
  }

  /** Resolves once no write is under way. The caller accepts no more of them. */
  async stop(): Promise<void> {
    if (this.#unfinished === 0) return;
    await new Promise<void>((resolve) => (this.#whenFinished = resolve));
  }

  /** Requests that were read from the network together go into the same batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#batches >= maxBatchesAtOnce || this.#ready.size === 0) return;
    if (this.#batches > 0 && this.#ready.size < largeBatchSize) {
      this.#slowBatch ??= setTimeout(() => this.#start(), slowBatchMs).unref();
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    if (this.#slowBatch !== null) clearTimeout(this.#slowBatch);
    this.#slowBatch = null;
    while (this.#batches < maxBatchesAtOnce && this.#ready.size > 0) {
      const batch = this.#ready.take(maxBatchSize).filter((pending) => !this.#rejectIfLate(pending));
      if (batch.length > 0) void this.#run(batch);
    }
  }

  #rejectIfLate(pending: PendingWrite<Write, Stored>): boolean {
    if (performance.now() - pending.arrivedAt <= longestWaitMs) return false;
    pending.reject(unavailable('CONNECT_TIMEOUT', `the ${this.#options.subject} before this one take too long`));
    this.#finish(pending);
    return true;
  }

  async #run(batch: readonly PendingWrite<Write, Stored>[]): Promise<void> {
    this.#batches += 1;
    let stored: ReadonlyMap<EngagementId, Stored> | null = null;
    try {
      stored = await this.#options.writeBatch(batch.map(({ write }) => write));
    } catch (error) {
      this.#recover(batch, error);
    }
    if (stored !== null) this.#conclude(batch, stored);
    this.#batches -= 1;
    this.#start();
  }

  #conclude(batch: readonly PendingWrite<Write, Stored>[], stored: ReadonlyMap<EngagementId, Stored>): void {
    const written = new Map<AccountId, number>();
    for (const pending of batch) {
      const { accountId, engagementId } = pending.write;
      const own = stored.get(engagementId);
      if (own === undefined) void this.#writeSingly(pending);
      else {
        written.set(accountId, (written.get(accountId) ?? 0) + 1);
        pending.resolve(own);
        this.#finish(pending);
      }
    }
    for (const [accountId, writes] of written) this.#reportCommitted(accountId, writes);
  }

  /** The writes are stored: an error of the callback must not change what becomes of them. */
  #reportCommitted(accountId: AccountId, writes: number): void {
    const { onCommitted, log, subject } = this.#options;
    try {
      onCommitted(accountId, writes);
    } catch (error) {
      log.error({ err: error }, `could not report that ${subject} were committed`);
    }
  }

  /**
   * After a fault of ours, or if it took too long, or if the account of one is being moved, nothing was stored. Each write is made alone, so
   * that only the faulty one fails.
   */
  #recover(batch: readonly PendingWrite<Write, Stored>[], error: unknown): void {
    const isMoving = isAccountMoving(error);
    if (!isDatabaseUnavailable(error) || isTimedOut(error) || isMoving) {
      const { log, subject } = this.#options;
      if (!isMoving) log.error({ err: error, writes: batch.length }, `a batch of ${subject} failed`);
      for (const pending of batch) void this.#writeSingly(pending);
      return;
    }
    for (const pending of batch) {
      pending.reject(error);
      this.#finish(pending);
    }
  }

  async #writeSingly(pending: PendingWrite<Write, Stored>): Promise<void> {
    let stored: Stored | null = null;
    try {
      stored = await pending.writeAlone();
      pending.resolve(stored);
    } catch (error) {
      pending.reject(error);
    }
    if (stored !== null) this.#reportCommitted(pending.write.accountId, 1);
    this.#finish(pending);
    this.#schedule();
  }

  /** The next write to the same engagement may be written. */
  #finish({ write: { accountId, engagementId }, next }: PendingWrite<Write, Stored>): void {
    if (next === null) this.#last.delete(engagementId);
    else this.#ready.push(accountId, next);
    this.#unfinished -= 1;
    if (this.#unfinished === 0) this.#whenFinished?.();
  }
}

/** An error that is answered as 503. */
function unavailable(code: 'CONNECTION_ENDED' | 'CONNECT_TIMEOUT', message: string): Error {
  return Object.assign(new Error(message), { code });
}
