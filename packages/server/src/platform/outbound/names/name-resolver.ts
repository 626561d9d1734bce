import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { BoundedMap } from '../../bounded-map.ts';
import { FairQueue } from './fair-queue.ts';
import { LocalNames, type LocalFiles } from './local-names.ts';
import { lookUpName, NameUnresolved, type FoundAddresses } from './look-up-name.ts';

/** The maximum number of cached names. */
const maxCached = 20_000;
/** The bounds of a TTL: a changed record is used after a minute at the latest. */
const shortestKeepMs = 1_000;
const longestKeepMs = 60_000;
/** Expired addresses are used for this time while they are looked up again, so that callers do not wait (RFC 8767). */
const staleMs = 30_000;
/**
 * A failure is cached for this time, and twice as long after each further failure. The first time is shorter than the first
 * retry delay of a delivery, so that each attempt looks the name up again.
 */
const firstFailureMs = 3_000;
const longestFailureMs = 60_000;
/** A name that resolved within `trustedMs` is trusted to resolve again, unless its lookup took longer than `slowMs`. */
const trustedMs = 3_600_000;
const slowMs = 2_000;

/**
 * The limits of each of the two queues. Trusted names and others wait in separate queues: two hundred dead names, each of which
 * takes seconds to time out, do not delay a working receiver.
 */
const queueLimits = { atOnce: 128, atOnceOfHolder: 32, waitingOfHolder: 1_000 };

interface CachedName {
  addresses: readonly LookupAddress[];
  /** The addresses are valid until `freshUntil`; until `staleUntil` they may be used while they are looked up again. */
  freshUntil: number;
  staleUntil: number;
  trustedUntil: number;
  failure: NameUnresolved | null;
  failedUntil: number;
  failures: number;
}

interface Lookup {
  readonly promise: Promise<readonly LookupAddress[]>;
  /** The holders in whose queues the lookup waits. */
  readonly holders: Set<string>;
  readonly start: () => Promise<void>;
}

interface NameResolverOptions {
  /** DNS servers as `address` or `address:port`; if empty, those of the system. */
  readonly servers?: readonly string[];
  readonly files?: LocalFiles;
}

/**
 * Resolves all host names except the database's: those that customers register, and those in settings. It does not use
 * `dns.lookup`, because all lookups of a process would share two threads of libuv. Concurrent lookups of one name are shared.
 * Addresses are cached by their TTL, failures for seconds. The number of running lookups is bounded per holder (usually an
 * account) and in total.
 */
export class NameResolver {
  readonly #servers: readonly string[];
  readonly #local: LocalNames;
  readonly #cache = new BoundedMap<string, CachedName>(maxCached);
  readonly #lookups = new Map<string, Lookup>();
  readonly #trusted = new FairQueue(queueLimits);
  readonly #untrusted = new FairQueue(queueLimits);
  readonly #closing = new AbortController();

  constructor({ servers = [], files }: NameResolverOptions = {}) {
    this.#servers = servers;
    this.#local = new LocalNames(files);
  }

  /** Lookups that are running and waiting. */
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
    const cached = this.#cache.get(hostname);
    const now = performance.now();
    if (cached === undefined) return this.#lookUp(hostname, holder);
    if (cached.failure !== null && now < cached.failedUntil) throw cached.failure;
    if (now >= cached.staleUntil) return this.#lookUp(hostname, holder);
    if (now >= cached.freshUntil) this.prepare(hostname, holder);
    return cached.addresses;
  }

  /** The cached addresses; `null` if there are none. */
  peek(hostname: string): readonly LookupAddress[] | null {
    const local = this.#local.addressesOf(hostname);
    if (local !== null) return local;
    const cached = this.#cache.get(hostname);
    return cached === undefined || performance.now() >= cached.staleUntil ? null : cached.addresses;
  }

  /** Whether `resolve` would settle at once, even if with a failure. */
  isAnswered(hostname: string): boolean {
    if (isIP(hostname) !== 0 || this.peek(hostname) !== null) return true;
    const cached = this.#cache.get(hostname);
    return cached !== undefined && cached.failure !== null && performance.now() < cached.failedUntil;
  }

  /** Whether the name has resolved recently and not failed since. Literal addresses are always trusted. */
  isTrusted(hostname: string): boolean {
    if (isIP(hostname) !== 0 || this.#local.addressesOf(hostname) !== null) return true;
    return performance.now() < (this.#cache.get(hostname)?.trustedUntil ?? 0);
  }

  /** Starts a lookup, so that the name is cached when it is needed. A failure is reported to the caller of `resolve`. */
  prepare(hostname: string, holder: string): void {
    this.#lookUp(hostname, holder).catch(() => undefined);
  }

  /** For sockets to hosts that no customer chooses: the addresses are not checked. */
  lookupFor(holder: string): LookupFunction {
    return lookupBy(async (hostname) => this.resolve(hostname, holder));
  }

  /** Aborts all running lookups. */
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

  /** Creates a lookup that waits in the queue of each holder and starts when the first of them has its turn. */
  #begin(hostname: string): Lookup {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    // Callers get the failure; without callers it must not become an unhandled rejection.
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
          const found = await this.#query(hostname);
          resolve(this.#cacheAddresses(hostname, found, performance.now() - startedAt < slowMs));
        } catch (error) {
          reject(this.#cacheFailure(hostname, error));
        } finally {
          this.#lookups.delete(hostname);
        }
      },
    };
    this.#lookups.set(hostname, lookup);
    return lookup;
  }

  async #query(hostname: string): Promise<FoundAddresses> {
    const candidates = this.#local.candidates(hostname);
    return lookUpName({ hostname, candidates, servers: this.#servers, signal: this.#closing.signal });
  }

  #cacheAddresses(
    hostname: string,
    { addresses, ttlSec }: FoundAddresses,
    isTrusted: boolean,
  ): readonly LookupAddress[] {
    const now = performance.now();
    const freshUntil = now + Math.min(Math.max(ttlSec * 1_000, shortestKeepMs), longestKeepMs);
    this.#cache.delete(hostname);
    this.#cache.set(hostname, {
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

  #cacheFailure(hostname: string, error: unknown): unknown {
    const now = performance.now();
    if (!(error instanceof NameUnresolved) || this.#closing.signal.aborted) return error;
    const cached = this.#cache.get(hostname);
    // A time-out does not invalidate cached addresses.
    if (cached !== undefined && !error.isAbsent && now < cached.staleUntil) return error;
    const failures = (cached?.failures ?? 0) + 1;
    const pauseMs = Math.min(firstFailureMs * 2 ** (failures - 1), longestFailureMs);
    this.#cache.delete(hostname);
    this.#cache.set(hostname, {
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

/** Adapts a resolver to the `lookup` option of sockets. */
export function lookupBy(resolve: (hostname: string) => Promise<readonly LookupAddress[]>): LookupFunction {
  return (hostname, { all }, answer) => {
    resolve(hostname).then(
      (found) => (all === true ? answer(null, [...found]) : answer(null, found[0]?.address ?? '', found[0]?.family)),
      (error: NodeJS.ErrnoException) => answer(error, []),
    );
  };
}
