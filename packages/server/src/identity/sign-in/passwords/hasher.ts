import { Refusal } from '../../../platform/errors.ts';
import { hashCosts, hashSecret, verifyAgainstRandomHash, verifySecret } from '../../secrets.ts';
import { normalizePassword } from './password.ts';

/** Node has four threads for hashing and files: two remain for other work. This also limits memory to that of two checks. */
const maxConcurrent = 2;
/** About three seconds of work. Further requests are refused, because people would not wait longer. */
const maxWaiting = 20;
const retrySeconds = '5';

/** Hashes a few passwords at a time. Hashing is slow on purpose, and sign-ins must not block other requests. */
export class PasswordHasher {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async hash(password: string): Promise<string> {
    return this.#throttled(async () => hashSecret(normalizePassword(password), hashCosts.password));
  }

  /** With `hash: null` the answer is `false` after the same time. */
  async matches(password: string, hash: string | null): Promise<boolean> {
    const text = normalizePassword(password);
    return this.#throttled(async () =>
      hash === null ? verifyAgainstRandomHash(text, hashCosts.password) : verifySecret(text, hash),
    );
  }

  async #throttled<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= maxConcurrent) {
      if (this.#waiting.length >= maxWaiting)
        throw new Refusal('too_busy', 'Too many people are signing in right now. Try again in a few seconds.', {
          headers: { 'retry-after': retrySeconds },
        });
      // The finishing task passes its slot to this one.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
