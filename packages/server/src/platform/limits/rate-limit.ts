import { isIPv6 } from 'node:net';
import { BoundedMap } from '../bounded-map.ts';
import { Refusal } from '../errors.ts';

/** The maximum number of counted keys; beyond it the oldest is evicted. */
const maxKeys = 100_000;
const windowMs = 60_000;

/**
 * Limits the uses of a key per minute in this process. It is synchronous, because every request calls it.
 * A window begins with the first use of a key and ends a minute later.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #counts = new BoundedMap<string, { taken: number; endsAt: number }>(maxKeys);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one use; throws 429 above the limit. */
  take(key: string, now = performance.now()): void {
    const count = this.#counts.get(key);
    if (count === undefined || count.endsAt <= now) {
      this.#counts.delete(key);
      this.#counts.set(key, { taken: 1, endsAt: now + windowMs });
      return;
    }
    count.taken += 1;
    if (count.taken <= this.#perMinute) return;
    const seconds = Math.ceil((count.endsAt - now) / 1000);
    throw new Refusal('rate_limited', `More than ${this.#perMinute} requests in a minute. Try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

export interface Rate {
  readonly perMinute: number;
  /** How many uses a full bucket allows at once. */
  readonly burst: number;
}

/**
 * Token buckets, one per key, in this process: a bucket holds at most `burst` tokens and refills at `perMinute`. Unlike a window
 * of a minute, a bucket prevents the use of a whole minute's share within a second.
 */
export class TokenBuckets {
  readonly #buckets = new BoundedMap<string, { left: number; at: number }>(maxKeys);

  /** Takes one token; returns 0, or the milliseconds until the next token. */
  take(key: string, { perMinute, burst }: Rate, now = performance.now()): number {
    const perMs = perMinute / windowMs;
    const bucket = this.#buckets.get(key) ?? { left: burst, at: now };
    bucket.left = Math.min(burst, bucket.left + (now - bucket.at) * perMs);
    bucket.at = now;
    // Reinserted, so that the least recently used bucket is evicted first.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perMs);
    bucket.left -= 1;
    return 0;
  }
}

/** The value of `Retry-After`. */
export function retryAfter(waitMs: number): Record<'retry-after', string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) };
}

/** An address may send the requests of `burstSec` seconds at once, and at least `minBurst`. */
const burstSec = 1;
const minBurst = 30;

/** Limits the requests of all visitors of one IP address together, so that creating more visitors does not help. */
export class AddressRate {
  readonly #buckets = new TokenBuckets();
  readonly #rate: Rate;

  constructor(perMinute: number) {
    this.#rate = { perMinute, burst: Math.max(minBurst, (perMinute / 60) * burstSec) };
  }

  /** Counts one request; throws 429 above the limit. */
  take(address: string, now = performance.now()): void {
    const waitMs = this.#buckets.take(addressKey(address), this.#rate, now);
    if (waitMs === 0) return;
    throw new Refusal(
      'rate_limited',
      `More than ${this.#rate.perMinute} requests in a minute from visitors of this IP address. Try again in ${Math.ceil(waitMs / 1000)} s.`,
      { headers: retryAfter(waitMs) },
    );
  }
}

/** The key of an IP address for limits: an IPv6 address counts by its /64. An address has one key in any spelling. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail = ''] = (address.split('%', 1)[0] ?? '').split('::', 2);
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const gap = address.includes('::') ? Array<string>(8 - front.length - back.length).fill('0') : [];
  const groups = [...front, ...gap, ...back].map((group) => Number.parseInt(group, 16));
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535';
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
}
