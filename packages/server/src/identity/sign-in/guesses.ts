import { Refusal } from '../../platform/errors.ts';
import { addressKey } from '../../platform/limits/rate-limit.ts';
import type { UsesOfAll } from '../../platform/limits/shared-uses.ts';
import { Windows } from '../../platform/limits/windows.ts';

/** Wrong passwords allowed per minute. */
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
  readonly #windows: Readonly<Record<keyof GuessLimits, Windows>>;

  constructor(limits: GuessLimits, shared: UsesOfAll) {
    this.#limits = limits;
    this.#windows = {
      fromOneAddress: new Windows('guesses from one address', shared),
      fromEverywhere: new Windows('guesses from everywhere', shared),
      fromKnownDevice: new Windows('guesses from a known device', shared),
    };
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
    const windows = this.#windows[kind];
    const limit = this.#limits[kind];
    const window = windows.at(key, now);
    if (window.taken >= limit) throw tooMany(kind, Math.ceil((window.endsAt - now) / 1000));
    windows.count(key, window, 1, limit);
    return () => windows.count(key, window, -1, limit);
  }
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
