import { isIPv6 } from 'node:net';
import { Refusal } from '../errors.ts';
import type { Rate, UsesOfAll } from './shared-uses.ts';
import { TokenBuckets } from './token-buckets.ts';
import { Windows } from './windows.ts';

/** Limits the uses of a key per minute, in all processes together. It is synchronous, because every request calls it. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #windows: Windows;

  /** The name is the same in all processes. */
  constructor(name: string, perMinute: number, shared: UsesOfAll) {
    this.#perMinute = perMinute;
    this.#windows = new Windows(name, shared);
  }

  /** Counts one use; throws 429 above the limit. */
  take(key: string, now = performance.now()): void {
    const window = this.#windows.at(key, now);
    if (window.taken < this.#perMinute) return this.#windows.count(key, window, 1, this.#perMinute);
    const seconds = Math.ceil((window.endsAt - now) / 1000);
    throw new Refusal('rate_limited', `More than ${this.#perMinute} requests in a minute. Try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    });
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
  readonly #buckets: TokenBuckets;
  readonly #rate: Rate;

  constructor(perMinute: number, shared: UsesOfAll) {
    this.#buckets = new TokenBuckets('address', shared);
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
