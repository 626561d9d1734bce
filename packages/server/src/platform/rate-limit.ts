import { isIPv6 } from 'node:net';
import { BoundedMap } from './bounded-map.ts';
import { Refusal } from './errors.ts';

/** So many keys are counted at once; beyond that the oldest count is forgotten. */
const mostKeys = 100_000;
const windowMs = 60_000;

/**
 * Counts takings a key and minute, in this process. Synchronous, because it stands on the path of every request.
 * A window begins with a key's first taking and ends a minute later.
 */
export class RateLimit {
  readonly #perMinute: number;
  readonly #counts = new BoundedMap<string, { taken: number; endsAt: number }>(mostKeys);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Counts one taking; throws 429 when it is one too many. */
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
    throw new Refusal('rate_limited', `More than ${this.#perMinute} requests in a minute. Go on in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    });
  }
}

/** What an address is counted under: an IPv6 caller owns a whole /64. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  if (address.startsWith('::ffff:')) return address.slice(7);
  const [head = '', tail = ''] = address.split('::', 2);
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const groups = address.includes('::')
    ? [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back]
    : front;
  return `${groups.slice(0, 4).join(':')}::/64`;
}
