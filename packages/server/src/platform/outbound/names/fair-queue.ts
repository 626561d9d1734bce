/** Too many tasks of one holder are waiting. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
  readonly code = 'EBUSY';
}

interface FairQueueLimits {
  /** The maximum number of running tasks, of all holders and of one holder. */
  readonly atOnce: number;
  readonly atOnceOfHolder: number;
  /** The maximum number of waiting tasks of one holder. */
  readonly waitingOfHolder: number;
}

interface Holder {
  running: number;
  readonly waiting: (() => Promise<unknown>)[];
}

/**
 * Runs tasks of many holders with bounded concurrency, round robin by holder: a holder with a thousand tasks delays the first
 * task of another holder by at most one of its own.
 *
 * Invariant: `#holders` contains exactly the holders with a running or waiting task, the next in turn first.
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

  /** The task must not reject. Throws `QueueFull` if too many tasks of the holder wait. */
  add(key: string, task: () => Promise<unknown>): void {
    const holder = this.#holders.get(key) ?? { running: 0, waiting: [] };
    if (holder.waiting.length >= this.#limits.waitingOfHolder)
      throw new QueueFull(`${this.#limits.waitingOfHolder} tasks are already waiting`);
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
      // Moves the holder to the end.
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
