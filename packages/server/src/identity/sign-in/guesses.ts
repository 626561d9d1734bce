import { BoundedMap } from '../../platform/bounded-map.ts';
import { Refusal } from '../../platform/errors.ts';
import { addressKey } from '../../platform/limits/rate-limit.ts';

const windowMs = 60_000;
/** Per kind of limit; beyond that the oldest counter is dropped. */
const maxCounters = 100_000;

/** Wrong passwords allowed per minute in this process. */
export interface GuessLimits {
  /** For one e-mail address from one client address. */
  readonly fromOneAddress: number;
  /** For one e-mail address from all client addresses together, against distributed guessing. */
  readonly fromEverywhere: number;
  /** From a browser that has signed in with this e-mail address before. The other limits do not apply to it. */
  readonly fromKnownDevice: number;
}

/** Many people may share a client address, so the limit for one e-mail address is a sixth of all attempts. */
const peopleAtAddress = 6;

/** Derives the limits from the number of attempts that an address may make per minute. */
export function guessLimits(attempts: number): GuessLimits {
  const ofOne = Math.ceil(attempts / peopleAtAddress);
  return { fromOneAddress: ofOne, fromEverywhere: attempts, fromKnownDevice: ofOne };
}

/**
 * Limits wrong passwords, so that passwords cannot be guessed, and so that guessing cannot lock out the owner.
 *
 *   fromAnybody      counts per client address and e-mail address, and per e-mail address alone with a higher limit. So guessing
 *                    from one address does not lock out people at other addresses.
 *   fromKnownDevice  counts per device. So guessing from many addresses does not lock out the owner, who has signed in from this
 *                    browser before.
 *   fromSession      counts per operator who changes their password while signed in.
 *
 * A guess is counted before it is checked, because concurrent guesses would otherwise exceed the limit. It is refunded if the
 * password was correct. Counting does not depend on whether the operator exists.
 */
export class Guesses {
  readonly #limits: GuessLimits;
  readonly #counts = {
    fromOneAddress: new BoundedMap<string, Count>(maxCounters),
    fromEverywhere: new BoundedMap<string, Count>(maxCounters),
    fromKnownDevice: new BoundedMap<string, Count>(maxCounters),
  };

  constructor(limits: GuessLimits) {
    this.#limits = limits;
  }

  /** Throws 429 if the limit is reached. Returns a function to call if the password was correct. */
  fromAnybody(clientAddress: string, email: string, now = performance.now()): () => void {
    const refund = this.#take('fromOneAddress', `${addressKey(clientAddress)} ${emailKey(email)}`, now);
    try {
      const refundEmail = this.#take('fromEverywhere', emailKey(email), now);
      return () => {
        refund();
        refundEmail();
      };
    } catch (error) {
      // The password is not checked, so this was no guess.
      refund();
      throw error;
    }
  }

  fromKnownDevice(deviceKey: string, email: string, now = performance.now()): () => void {
    return this.#take('fromKnownDevice', `${deviceKey} ${emailKey(email)}`, now);
  }

  fromSession(operatorId: string, now = performance.now()): () => void {
    return this.#take('fromKnownDevice', `operator ${operatorId}`, now);
  }

  #take(kind: keyof GuessLimits, key: string, now: number): () => void {
    const counts = this.#counts[kind];
    let count = counts.get(key);
    if (count === undefined || count.endsAt <= now) {
      count = { taken: 0, endsAt: now + windowMs };
      counts.delete(key);
      counts.set(key, count);
    }
    if (count.taken >= this.#limits[kind]) throw tooMany(kind, Math.ceil((count.endsAt - now) / 1000));
    count.taken += 1;
    const taken = count;
    return () => {
      taken.taken -= 1;
    };
  }
}

interface Count {
  taken: number;
  readonly endsAt: number;
}

function tooMany(kind: keyof GuessLimits, seconds: number): Refusal {
  const detail =
    kind === 'fromEverywhere'
      ? 'Too many incorrect passwords for this e-mail address. Sign in from a browser that you have used before, with an API ' +
        `key or with a one-time link. Or try again in ${seconds} s.`
      : `Too many incorrect passwords. Try again in ${seconds} s.`;
  return new Refusal('rate_limited', detail, { headers: { 'retry-after': String(seconds) } });
}

/**
 * The counter key of an e-mail address. All spellings that match the same operator must share one key. PostgreSQL and JavaScript
 * disagree on the lower case of some letters (İ), so combining marks are dropped as well.
 */
function emailKey(email: string): string {
  return email.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}
