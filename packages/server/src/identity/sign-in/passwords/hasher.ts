import { Refusal } from '../../../platform/errors.ts';
import { hashSecret, passwordCost, verifyAgainstNothing, verifySecret } from '../../secrets.ts';
import { normalized } from './password.ts';

/** Node has four threads for this and for files; two are left to the others, and no more memory than twice a check's is used. */
const mostAtOnce = 2;
/** About three seconds of work. Whoever comes after them would have given up waiting. */
const mostWaiting = 20;
const retrySeconds = '5';

/** Hashes passwords, which is slow on purpose, a few at a time: people who sign in must not stop those who work. */
export class PasswordHasher {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async hash(password: string): Promise<string> {
    return this.#inTurn(async () => hashSecret(normalized(password), passwordCost));
  }

  /** `null`: there is no hash, and finding that out takes as long. */
  async matches(password: string, hash: string | null): Promise<boolean> {
    const text = normalized(password);
    return this.#inTurn(async () =>
      hash === null ? verifyAgainstNothing(text, passwordCost) : verifySecret(text, hash),
    );
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= mostAtOnce) {
      if (this.#waiting.length >= mostWaiting)
        throw new Refusal('too_busy', 'Too many people are signing in at this moment. Try again in a few seconds.', {
          headers: { 'retry-after': retrySeconds },
        });
      // Whoever ends hands its place on.
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
