/** After an empty probe, an account is not probed for this long; doubled each time. */
const firstBackoffMs = 20;
const maxBackoffMs = 250;
/** After this long without a probe, the backoff of an account is reset. */
const resetMs = 5_000;

interface EmptyProbe {
  readonly at: number;
  readonly backoffMs: number;
}

/**
 * Decides which accounts to probe for free destinations with due deliveries. Events happen all the time, and most probes find
 * nothing, because the account has no webhooks or another process has leased its destinations; so an account with empty probes
 * backs off. The first event of a quiet account is still probed at once.
 */
export class AccountProbes<Account> {
  readonly #requested = new Set<Account>();
  readonly #emptyProbes = new Map<Account, EmptyProbe>();

  /** Call this when an event was written in the account. */
  request(account: Account): void {
    this.#requested.add(account);
  }

  /** The accounts to probe now, or the time until there are some; `null`: no probe is requested. */
  due(now: number): { readonly accounts: readonly Account[] } | { readonly inMs: number } | null {
    let soonest = Number.POSITIVE_INFINITY;
    const accounts: Account[] = [];
    for (const account of this.#requested) {
      const last = this.#emptyProbes.get(account);
      const due = last === undefined ? now : last.at + last.backoffMs;
      if (due <= now) accounts.push(account);
      soonest = Math.min(soonest, due);
    }
    for (const account of accounts) this.#requested.delete(account);
    if (accounts.length > 0) return { accounts };
    return soonest === Number.POSITIVE_INFINITY ? null : { inMs: soonest - now };
  }

  /** Records the result of a probe: `found` are the accounts that had free destinations. */
  record(accounts: readonly Account[], found: ReadonlySet<Account>, now: number): void {
    for (const account of accounts) {
      const backoffMs = this.#emptyProbes.get(account)?.backoffMs ?? firstBackoffMs / 2;
      if (found.has(account)) this.#emptyProbes.delete(account);
      else this.#emptyProbes.set(account, { at: now, backoffMs: Math.min(2 * backoffMs, maxBackoffMs) });
    }
  }

  /** The probe failed: the accounts are probed again. */
  putBack(accounts: readonly Account[]): void {
    for (const account of accounts) this.#requested.add(account);
  }

  prune(now: number): void {
    for (const [account, { at }] of this.#emptyProbes) if (now - at > resetMs) this.#emptyProbes.delete(account);
  }
}
