import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { BoundedMap } from '../bounded-map.ts';
import { FairQueue } from './fair-queue.ts';
import { LocalNames, type LocalFiles } from './local-names.ts';
import { lookUpName, NameUnresolved, type FoundAddresses } from './look-up-name.ts';

/** Names that something is known of. One more makes the one asked for first be forgotten. */
const mostKnown = 20_000;
/** However long a record may be kept by its TTL, a changed one counts within a minute. */
const shortestKeepMs = 1_000;
const longestKeepMs = 60_000;
/** After that, addresses are used for this long while they are looked up again, so that callers do not wait (RFC 8767). */
const staleMs = 30_000;
/**
 * A name that does not resolve is not asked for again for so long; twice as long after each further failure. The first is
 * shorter than the first pause between attempts to deliver, so that each attempt asks anew.
 */
const firstFailureMs = 3_000;
const longestFailureMs = 60_000;
/** A name that has resolved within that time is believed to resolve; not one that took so long that it holds up others. */
const trustedMs = 3_600_000;
const slowMs = 2_000;

/**
 * The limits of each of the two queues. Names that have resolved lately and those that have not wait in queues of their own: two
 * hundred dead names, each of which takes seconds to give up, delay no receiver that is known to be there.
 */
const queueLimits = { atOnce: 128, atOnceOfHolder: 32, waitingOfHolder: 1_000 };

interface KnownName {
  addresses: readonly LookupAddress[];
  /** Until then the addresses are good, and until then they may be used while they are asked for anew. */
  freshUntil: number;
  staleUntil: number;
  trustedUntil: number;
  failure: NameUnresolved | null;
  failedUntil: number;
  failures: number;
}

interface Lookup {
  readonly promise: Promise<readonly LookupAddress[]>;
  /** Who has it in a queue. */
  readonly holders: Set<string>;
  readonly start: () => Promise<void>;
}

interface NameResolverOptions {
  /** DNS servers, as `address` or `address:port`; none: those of the system. */
  readonly servers?: readonly string[];
  readonly files?: LocalFiles;
}

/**
 * Resolves the names that customers make us connect to, and what settings name but for the database: everything that must not
 * use libuv's threads, of which the names of a process share two. One lookup of a name is under way at a time, and all callers
 * share it. Answers are kept for as long as their TTL says, failures for seconds. Lookups under way are bounded for each holder
 * (an account, mostly) and in all.
 */
export class NameResolver {
  readonly #servers: readonly string[];
  readonly #local: LocalNames;
  readonly #known = new BoundedMap<string, KnownName>(mostKnown);
  readonly #lookups = new Map<string, Lookup>();
  readonly #trusted = new FairQueue(queueLimits);
  readonly #untrusted = new FairQueue(queueLimits);
  readonly #closing = new AbortController();

  constructor({ servers = [], files }: NameResolverOptions = {}) {
    this.#servers = servers;
    this.#local = new LocalNames(files);
  }

  /** Lookups that are under way, and that wait for their turn. */
  get counts(): { readonly underWay: number; readonly waiting: number } {
    return {
      underWay: this.#trusted.running + this.#untrusted.running,
      waiting: this.#trusted.waiting + this.#untrusted.waiting,
    };
  }

  /**
   * At least one address. Rejects with `NameUnresolved`, or with `QueueFull` if too many names of the holder wait.
   */
  async resolve(hostname: string, holder: string): Promise<readonly LookupAddress[]> {
    const local = this.#local.addressesOf(hostname);
    if (local !== null) return local;
    const known = this.#known.get(hostname);
    const now = performance.now();
    if (known === undefined) return this.#lookUp(hostname, holder);
    if (known.failure !== null && now < known.failedUntil) throw known.failure;
    if (now >= known.staleUntil) return this.#lookUp(hostname, holder);
    if (now >= known.freshUntil) this.prepare(hostname, holder);
    return known.addresses;
  }

  /** What is known without asking: `null` if nothing is. */
  peek(hostname: string): readonly LookupAddress[] | null {
    const local = this.#local.addressesOf(hostname);
    if (local !== null) return local;
    const known = this.#known.get(hostname);
    return known === undefined || performance.now() >= known.staleUntil ? null : known.addresses;
  }

  /** Whether `resolve` would answer at once, be it with a failure. */
  isSettled(hostname: string): boolean {
    if (isIP(hostname) !== 0 || this.peek(hostname) !== null) return true;
    const known = this.#known.get(hostname);
    return known !== undefined && known.failure !== null && performance.now() < known.failedUntil;
  }

  /** Whether the name has resolved lately, and not failed since. Literal addresses always do. */
  isTrusted(hostname: string): boolean {
    if (isIP(hostname) !== 0 || this.#local.addressesOf(hostname) !== null) return true;
    return performance.now() < (this.#known.get(hostname)?.trustedUntil ?? 0);
  }

  /** Asks for the name, so that it is known when it is needed. Whether it resolves is for those to hear who need it. */
  prepare(hostname: string, holder: string): void {
    this.#lookUp(hostname, holder).catch(() => undefined);
  }

  /** For sockets, where whom to connect to is not a customer's choice: nothing is checked. */
  lookupFor(holder: string): LookupFunction {
    return lookupBy(async (hostname) => this.resolve(hostname, holder));
  }

  /** Cuts off what is under way. */
  close(): void {
    this.#closing.abort(new Error('Usher is stopping'));
  }

  async #lookUp(hostname: string, holder: string): Promise<readonly LookupAddress[]> {
    const lookup = this.#lookups.get(hostname) ?? this.#begin(hostname);
    if (lookup.holders.has(holder)) return lookup.promise;
    const queue = this.isTrusted(hostname) ? this.#trusted : this.#untrusted;
    try {
      queue.add(holder, lookup.start);
      lookup.holders.add(holder);
    } catch (error) {
      if (lookup.holders.size === 0) this.#lookups.delete(hostname);
      throw error;
    }
    return lookup.promise;
  }

  /** Waits in the queue of each holder who asks for it, and is made when the first of them has its turn. */
  #begin(hostname: string): Lookup {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    // Callers that wait for the lookup get its failure; there may be none.
    promise.catch(() => undefined);
    let isStarted = false;
    const lookup: Lookup = {
      promise,
      holders: new Set(),
      start: async () => {
        if (isStarted) return;
        isStarted = true;
        const startedAt = performance.now();
        try {
          const found = await this.#ask(hostname);
          resolve(this.#keep(hostname, found, performance.now() - startedAt < slowMs));
        } catch (error) {
          reject(this.#keepFailure(hostname, error));
        } finally {
          this.#lookups.delete(hostname);
        }
      },
    };
    this.#lookups.set(hostname, lookup);
    return lookup;
  }

  async #ask(hostname: string): Promise<FoundAddresses> {
    const candidates = this.#local.candidates(hostname);
    return lookUpName({ hostname, candidates, servers: this.#servers, signal: this.#closing.signal });
  }

  #keep(hostname: string, { addresses, ttlSec }: FoundAddresses, isTrusted: boolean): readonly LookupAddress[] {
    const now = performance.now();
    const freshUntil = now + Math.min(Math.max(ttlSec * 1_000, shortestKeepMs), longestKeepMs);
    this.#known.delete(hostname);
    this.#known.set(hostname, {
      addresses,
      freshUntil,
      staleUntil: freshUntil + staleMs,
      trustedUntil: isTrusted ? now + trustedMs : 0,
      failure: null,
      failedUntil: 0,
      failures: 0,
    });
    return addresses;
  }

  #keepFailure(hostname: string, error: unknown): unknown {
    const now = performance.now();
    if (!(error instanceof NameUnresolved) || this.#closing.signal.aborted) return error;
    const known = this.#known.get(hostname);
    // Servers that say nothing take nothing back.
    if (known !== undefined && !error.isAbsent && now < known.staleUntil) return error;
    const failures = (known?.failures ?? 0) + 1;
    const pauseMs = Math.min(firstFailureMs * 2 ** (failures - 1), longestFailureMs);
    this.#known.delete(hostname);
    this.#known.set(hostname, {
      addresses: [],
      freshUntil: 0,
      staleUntil: 0,
      trustedUntil: 0,
      failure: error,
      failedUntil: now + pauseMs,
      failures,
    });
    return error;
  }
}

/** In the form that sockets take. */
export function lookupBy(resolve: (hostname: string) => Promise<readonly LookupAddress[]>): LookupFunction {
  return (hostname, { all }, answer) => {
    resolve(hostname).then(
      (found) => (all === true ? answer(null, [...found]) : answer(null, found[0]?.address ?? '', found[0]?.family)),
      (error: NodeJS.ErrnoException) => answer(error, []),
    );
  };
}
