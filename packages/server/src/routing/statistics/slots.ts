import { Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';

export interface SlotLimits {
  /** Running and waiting statistics of one account. */
  readonly perAccount: number;
  /** Running statistics of all accounts: one per connection. */
  readonly running: number;
  /** Waiting statistics of all accounts. */
  readonly waiting: number;
  readonly maxWaitMs: number;
}

const retryAfter = { 'retry-after': '5' };

/**
 * Limits how many statistics run at once, and refuses those that would wait too long. A statistic may take as long as the statement
 * time-out, so waiting for a connection must not use up the rest of the request's time. One account cannot take all slots.
 */
export class StatisticsSlots {
  readonly #limits: SlotLimits;
  readonly #ofAccount = new Map<AccountId, number>();
  /** In order of arrival. Each function is called when its statistic may start. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Runs `read` as soon as there is a slot for it. */
  async run<T>(accountId: AccountId, read: () => Promise<T>): Promise<T> {
    const { perAccount } = this.#limits;
    if ((this.#ofAccount.get(accountId) ?? 0) >= perAccount)
      throw new Refusal(
        'rate_limited',
        `The account has ${perAccount} statistics running, the limit. Try again when one of them is finished.`,
        { headers: retryAfter },
      );
    this.#count(accountId, 1);
    try {
      await this.#take();
      try {
        return await read();
      } finally {
        this.#giveBack();
      }
    } finally {
      this.#count(accountId, -1);
    }
  }

  async #take(): Promise<void> {
    const { running, waiting, maxWaitMs } = this.#limits;
    if (this.#running < running) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.size >= waiting) throw tooBusy();
    const turn = Promise.withResolvers<void>();
    const begin = (): void => turn.resolve();
    this.#waiting.add(begin);
    const timer = setTimeout(() => {
      if (this.#waiting.delete(begin)) turn.reject(tooBusy());
    }, maxWaitMs);
    await turn.promise.finally(() => clearTimeout(timer));
  }

  /** Hands the slot to the statistic that has waited longest. */
  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  #count(accountId: AccountId, by: 1 | -1): void {
    const count = (this.#ofAccount.get(accountId) ?? 0) + by;
    if (count > 0) this.#ofAccount.set(accountId, count);
    else this.#ofAccount.delete(accountId);
  }
}

function tooBusy(): Refusal {
  return new Refusal(
    'too_busy',
    'Too many statistics are running. Try again in a few seconds; a shorter range, longer steps or fewer dimensions take less time.',
    { headers: retryAfter },
  );
}
