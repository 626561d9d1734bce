import { BoundedMap } from '../bounded-map.ts';
import type { Rate, SharedLimit, UsesOfAll } from './shared-uses.ts';

/** The maximum number of buckets; beyond it the least recently used is evicted. */
const maxKeys = 100_000;
const msPerMinute = 60_000;
/** Buckets of other processes are never more wrong than by a part of this many bursts, so that they do not run empty at once. */
const burstsPerLimit = 5;

interface Bucket {
  left: number;
  at: number;
  /** Uses that the other processes do not know of. */
  unannounced: number;
}

/**
 * Token buckets, one per key, for all processes together: a bucket holds at most `burst` tokens and refills at `perMinute`. Unlike a window
 * of a minute, a bucket prevents the use of a whole minute's share within a second.
 */
export class TokenBuckets {
  readonly #buckets = new BoundedMap<string, Bucket>(maxKeys);
  readonly #shared: SharedLimit;

  /** The name is the same in all processes. */
  constructor(name: string, shared: UsesOfAll) {
    this.#shared = shared.open(name, ({ key, uses, rate }) => {
      if (rate !== null) this.#filled(key, rate, performance.now()).left -= uses;
    });
  }

  /** Takes one token; returns 0, or the milliseconds until the next token. */
  take(key: string, rate: Rate, now = performance.now()): number {
    const bucket = this.#filled(key, rate, now);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) * msPerMinute) / rate.perMinute);
    bucket.left -= 1;
    bucket.unannounced += 1;
    if (bucket.unannounced >= this.#shared.stepOf(Math.min(rate.perMinute, rate.burst * burstsPerLimit))) {
      this.#shared.announce({ key, uses: bucket.unannounced, rate });
      bucket.unannounced = 0;
    }
    return 0;
  }

  /** The bucket with what it holds now. */
  #filled(key: string, { perMinute, burst }: Rate, now: number): Bucket {
    const bucket = this.#buckets.get(key) ?? { left: burst, at: now, unannounced: 0 };
    bucket.left = Math.min(burst, bucket.left + ((now - bucket.at) * perMinute) / msPerMinute);
    bucket.at = now;
    // Reinserted, so that the least recently used bucket is evicted first.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
