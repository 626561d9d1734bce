import { Counter, Gauge, type Registry } from 'prom-client';
import type { PoolSql } from './database.ts';
import { Refusal } from '../errors.ts';
import type { AccountId } from '../ids.ts';

/** Changes of one account that may wait for its share. */
const maxWaiting = 2_000;
/** As long as a statement waits for a connection. */
const longestWaitMs = 10_000;

/** The share of those whose account is unknown: people who are signing in, for example. */
export const strangers = 'strangers';

interface Share {
  inUse: number;
  /** In the order of arrival. Each function is called when its change gets a connection. */
  readonly waiting: Set<() => void>;
}

/**
 * Limits how many connections of the pool for requests the changes of one account use at once. A change may wait for a lock of its
 * account until its statement ends, and without a limit a few such changes would keep every connection from all others. Changes
 * beyond the limit wait in memory. Reads wait for no lock, so they are not limited.
 */
export class ConnectionShares {
  readonly #limit: number;
  /** Only accounts that use a connection. */
  readonly #shares = new Map<AccountId | typeof strangers, Share>();
  #waiting = 0;
  #refused = 0;

  /** With connections for two, the others have one. */
  constructor(poolSize: number) {
    this.#limit = Math.max(1, Math.floor(poolSize / 2));
  }

  /**
   * The pool for one request or task of the account. While a transaction or statement of the returned pool has a connection, its others do not
   * wait: a change that waited for its own account while it had a connection could wait for itself.
   */
  poolOf(pool: PoolSql, owner: AccountId | typeof strangers): PoolSql {
    let inUse = 0;
    return pool.limitedBy(async (run) => {
      const isFirst = inUse === 0;
      if (isFirst) await this.#take(owner);
      inUse += 1;
      try {
        return await run();
      } finally {
        inUse -= 1;
        if (isFirst) this.#giveBack(owner);
      }
    });
  }

  watch(registry: Registry): void {
    const registers = [registry];
    const waiting = (): number => this.#waiting;
    const refused = (): number => this.#refused;
    new Gauge({
      name: 'usher_account_changes_waiting',
      help: 'Changes that wait because others of their account use its share of the connections for requests',
      registers,
      collect() {
        this.set(waiting());
      },
    });
    new Counter({
      name: 'usher_account_changes_refused_total',
      help: 'Changes refused because too many others of their account were waiting, or for too long',
      registers,
      collect() {
        this.reset();
        this.inc(refused());
      },
    });
  }

  async #take(owner: AccountId | typeof strangers): Promise<void> {
    const share = this.#shares.get(owner);
    if (share === undefined) {
      this.#shares.set(owner, { inUse: 1, waiting: new Set() });
      return;
    }
    if (share.inUse < this.#limit) {
      share.inUse += 1;
      return;
    }
    if (share.waiting.size >= maxWaiting) throw this.#refuse();
    const turn = Promise.withResolvers<void>();
    const begin = (): void => turn.resolve();
    share.waiting.add(begin);
    this.#waiting += 1;
    const timer = setTimeout(() => {
      if (share.waiting.delete(begin)) turn.reject(this.#refuse());
    }, longestWaitMs).unref();
    try {
      await turn.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting -= 1;
    }
  }

  /** Passes the connection on to the change that has waited longest. */
  #giveBack(owner: AccountId | typeof strangers): void {
    const share = this.#shares.get(owner);
    if (share === undefined) throw new Error('an account gave back a connection that it did not have');
    const [next] = share.waiting;
    if (next !== undefined) {
      share.waiting.delete(next);
      next();
      return;
    }
    share.inUse -= 1;
    if (share.inUse === 0) this.#shares.delete(owner);
  }

  #refuse(): Refusal {
    this.#refused += 1;
    return new Refusal(
      'too_busy',
      'Too many changes of this account are waiting for the database. Try again in a few seconds, with fewer changes at once.',
      { headers: { 'retry-after': '2' } },
    );
  }
}
