/** There is no room to wait. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  readonly code = 'EBUSY';
}

interface FairQueueLimits {
  /** Tasks under way, of all holders and of one. */
  readonly atOnce: number;
  readonly atOnceOfHolder: number;
  /** Tasks of one holder that wait. */
  readonly waitingOfHolder: number;
}

interface Holder {
  running: number;
  readonly waiting: (() => Promise<unknown>)[];
}

/**
 * Runs tasks of many holders, a bounded number at a time. Holders take turns: one with a thousand tasks delays another's
 * first task by one of its own at most.
 *
 * Invariant: `#holders` has exactly those with something running or waiting, the one whose turn is next first.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #holders = new Map<string, Holder>();
  #running = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#holders.values().reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** The task must not reject, and is run once. Throws `QueueFull` where too many of the holder wait. */
  add(key: string, task: () => Promise<unknown>): void {
    const holder = this.#holders.get(key) ?? { running: 0, waiting: [] };
    if (holder.waiting.length >= this.#limits.waitingOfHolder)
      throw new QueueFull(`${this.#limits.waitingOfHolder} are waiting already`);
    this.#holders.set(key, holder);
    holder.waiting.push(task);
    this.#pump();
  }

  #pump(): void {
    const { atOnce, atOnceOfHolder } = this.#limits;
    while (this.#running < atOnce) {
      const next = this.#holders
        .entries()
        .find(([, { running, waiting }]) => waiting.length > 0 && running < atOnceOfHolder);
      const task = next?.[1].waiting.shift();
      if (next === undefined || task === undefined) return;
      const [key, holder] = next;
      // Its next turn is after everybody else's.
      this.#holders.delete(key);
      this.#holders.set(key, holder);
      holder.running += 1;
      this.#running += 1;
      void task().finally(() => {
        holder.running -= 1;
        this.#running -= 1;
        if (holder.running + holder.waiting.length === 0) this.#holders.delete(key);
        this.#pump();
      });
    }
  }
}
