import { BoundedMap } from '../../platform/bounded-map.ts';
import { Refusal } from '../../platform/errors.ts';
import { addressKey } from '../../platform/rate-limit.ts';

const windowMs = 60_000;
/** So many keys are counted at once, of each kind; beyond that the oldest count is forgotten. */
const mostKeys = 100_000;

/** Wrong passwords that may be given in a minute, in this process. */
export interface GuessLimits {
  /** For one e-mail address from one client address. */
  readonly fromOneAddress: number;
  /** For one e-mail address from everywhere: against those who guess from many addresses. */
  readonly fromEverywhere: number;
  /** From a browser that has signed in with this e-mail address before, which the others do not concern. */
  readonly fromKnownDevice: number;
}

/** A client address may stand for many people, a password is one person's: so a sixth of the attempts may be wrong for one. */
const peopleAtAddress = 6;

/** What follows from the attempts that an address may make in a minute. */
export function guessLimits(attempts: number): GuessLimits {
  const ofOne = Math.ceil(attempts / peopleAtAddress);
  return { fromOneAddress: ofOne, fromEverywhere: attempts, fromKnownDevice: ofOne };
}

/**
 * Counts wrong passwords, so that they cannot be guessed at leisure, and nobody can keep the owner out by guessing.
 *
 *   anybody         is counted by client address and e-mail address together, and by e-mail address alone with a higher
 *                   ceiling. So somebody who guesses from one address keeps nobody out who is at another;
 *   a known device  is counted by itself, and not with the others. So those who guess from many addresses do not keep out
 *                   the owner, who has signed in from this browser before;
 *   a session       that changes its password is counted by itself, too: `fromSession`.
 *
 * A guess is counted before it is checked, or many at once would not be counted in time, and given back if it was right. What is
 * counted never depends on whether there is such an operator.
 */
export class Guesses {
  readonly #limits: GuessLimits;
  readonly #counts = {
    fromOneAddress: new BoundedMap<string, Count>(mostKeys),
    fromEverywhere: new BoundedMap<string, Count>(mostKeys),
    fromKnownDevice: new BoundedMap<string, Count>(mostKeys),
  };

  constructor(limits: GuessLimits) {
    this.#limits = limits;
  }

  /** Throws 429 where there were too many. Answers what to call if the password was right. */
  fromAnybody(clientAddress: string, email: string, now = performance.now()): () => void {
    const right = this.#take('fromOneAddress', `${addressKey(clientAddress)} ${emailKey(email)}`, now);
    try {
      const rightForEmail = this.#take('fromEverywhere', emailKey(email), now);
      return () => {
        right();
        rightForEmail();
      };
    } catch (error) {
      // It is not checked, so it was no guess.
      right();
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
  const what = kind === 'fromEverywhere' ? inWords.fromEverywhere : inWords.fromHere;
  return new Refusal('rate_limited', `${what} Go on in ${seconds} s.`, { headers: { 'retry-after': String(seconds) } });
}

const inWords = {
  fromHere: 'Too many wrong passwords were given from here.',
  fromEverywhere:
    'Too many wrong passwords were given for this e-mail address. Sign in from a browser that you have signed in with ' +
    'before, by an API key or a one-time link, or wait.',
};

/**
 * What an e-mail address is counted under. PostgreSQL and JavaScript do not agree on lower case for every letter (İ), so marks
 * are dropped as well: no two spellings that find the same operator may be counted apart.
 */
function emailKey(email: string): string {
  return email.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();
}
