import { Refusal } from '../../platform/errors.ts';
import type { AccountId } from '../../platform/ids.ts';

export interface SlotLimits {
  /** Under way or waiting, of one account. */
  readonly perAccount: number;
  /** Under way, of all accounts: as many as statistics have connections. */
  readonly underWay: number;
  /** Waiting, of all accounts. */
  readonly waiting: number;
  readonly longestWaitMs: number;
}

const retryAfter = { 'retry-after': '5' };

/**
 * Decides which statistics the database is asked for now, and refuses those that would wait for too long. A statistic may take the
 * seconds that a statement may; waiting for a connection must not take the rest of the time in which a request is answered. One
 * account cannot take the places of all others.
 */
export class StatisticsSlots {
  readonly #limits: SlotLimits;
  readonly #ofAccount = new Map<AccountId, number>();
  /** In the order in which they came. Each is called when it may begin. */
  readonly #waiting = new Set<() => void>();
  #underWay = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Runs `read` as soon as there is a slot for it. */
  async run<T>(accountId: AccountId, read: () => Promise<T>): Promise<T> {
    const { perAccount } = this.#limits;
    if ((this.#ofAccount.get(accountId) ?? 0) >= perAccount)
      throw new Refusal(
        'rate_limited',
        `The account has ${perAccount} statistics under way, as many as it may. Ask again when one of them is answered.`,
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
    const { underWay, waiting, longestWaitMs } = this.#limits;
    if (this.#underWay < underWay) {
      this.#underWay += 1;
      return;
    }
    if (this.#waiting.size >= waiting) throw tooBusy();
    const turn = Promise.withResolvers<void>();
    const begin = (): void => turn.resolve();
    this.#waiting.add(begin);
    const timer = setTimeout(() => {
      if (this.#waiting.delete(begin)) turn.reject(tooBusy());
    }, longestWaitMs);
    await turn.promise.finally(() => clearTimeout(timer));
  }

  /** Whoever waits longest takes the slot over. */
  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#underWay -= 1;
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
    'Too many statistics are being counted at this moment. Try again in a few seconds; shorter ranges, coarser steps and fewer dimensions take less time.',
    { headers: retryAfter },
  );
}
