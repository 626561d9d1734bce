/** After it was asked in vain, an account is left alone for so long, twice as long each time. */
const firstQuietMs = 20;
const longestQuietMs = 250;
/** When nothing was heard of it for so long, it is as new. */
const forgottenMs = 5_000;

interface Asked {
  readonly at: number;
  readonly quietMs: number;
}

/**
 * For which accounts to ask whether they have destinations with something to do and nobody to do it. Something happens in
 * an account all the time, and most of the time there is nothing to take on: it has no webhooks, or another process sees to
 * them. But what is new should be sent at once.
 */
export class Asking<Account> {
  readonly #wanted = new Set<Account>();
  readonly #asked = new Map<Account, Asked>();

  /** Something has happened in it. */
  want(account: Account): void {
    this.#wanted.add(account);
  }

  /** Those to ask for now, or how long it is until there are any; `null`: none are wanted. */
  due(now: number): { readonly accounts: readonly Account[] } | { readonly inMs: number } | null {
    let soonest = Number.POSITIVE_INFINITY;
    const accounts: Account[] = [];
    for (const account of this.#wanted) {
      const asked = this.#asked.get(account);
      const due = asked === undefined ? now : asked.at + asked.quietMs;
      if (due <= now) accounts.push(account);
      soonest = Math.min(soonest, due);
    }
    for (const account of accounts) this.#wanted.delete(account);
    if (accounts.length > 0) return { accounts };
    return soonest === Number.POSITIVE_INFINITY ? null : { inMs: soonest - now };
  }

  /** What came of it: which of them had something. */
  answer(accounts: readonly Account[], found: ReadonlySet<Account>, now: number): void {
    for (const account of accounts) {
      const quietMs = this.#asked.get(account)?.quietMs ?? firstQuietMs / 2;
      if (found.has(account)) this.#asked.delete(account);
      else this.#asked.set(account, { at: now, quietMs: Math.min(2 * quietMs, longestQuietMs) });
    }
  }

  /** It could not be asked. */
  putBack(accounts: readonly Account[]): void {
    for (const account of accounts) this.#wanted.add(account);
  }

  forget(now: number): void {
    for (const [account, { at }] of this.#asked) if (now - at > forgottenMs) this.#asked.delete(account);
  }
}
