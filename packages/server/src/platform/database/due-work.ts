import { isDatabaseUnavailable } from './database.ts';
import type { Log } from '../log.ts';

interface DueWorkOptions<Task> {
  /** The kind of task, for the log. */
  readonly what: string;
  /** The maximum number of tasks that run at once in this process. */
  readonly atOnce: number;
  /**
   * Leases up to `limit` due tasks. A process that has not finished a task when its lease ends is presumed dead, and another
   * process may claim the task.
   */
  readonly claim: (limit: number) => Promise<readonly Task[]>;
  /** Runs one task. If it rejects or never ends, the task is claimed again after the lease. */
  readonly handle: (task: Task) => Promise<void>;
  readonly log: Log;
}

/** How often every process polls for due tasks: a task becomes due by time alone, without a notification. */
const pollMs = 1_000;

/**
 * Runs due tasks from the database, whichever process wrote them. It claims as many tasks as it has free slots: when it is
 * woken, when a task has finished, and at each poll. All state that must survive is in the database.
 */
export class DueWork<Task> {
  readonly #options: DueWorkOptions<Task>;
  readonly #running = new Map<Promise<void>, Task>();
  readonly #poll: NodeJS.Timeout;
  #claiming: Promise<void> | null = null;
  /** A task may have become due since the last claim began. */
  #mayHaveMore = false;
  #stopped = false;

  constructor(options: DueWorkOptions<Task>) {
    this.#options = options;
    this.#poll = setInterval(() => this.wake(), pollMs).unref();
  }

  get running(): Iterable<Task> {
    return this.#running.values();
  }

  /** Claims due tasks now instead of at the next poll. */
  wake(): void {
    if (this.#stopped) return;
    this.#mayHaveMore = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
      if (this.#mayHaveMore && this.#freeSlots > 0) this.wake();
    });
  }

  /** Claims no more tasks; resolves when the running ones have finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    await this.#claiming;
    await Promise.all(this.#running.keys());
  }

  get #freeSlots(): number {
    return this.#stopped ? 0 : this.#options.atOnce - this.#running.size;
  }

  async #claim(): Promise<void> {
    const { claim, log, what } = this.#options;
    try {
      while (this.#mayHaveMore && this.#freeSlots > 0) {
        this.#mayHaveMore = false;
        const tasks = await claim(this.#freeSlots);
        for (const task of tasks) this.#begin(task);
        if (tasks.length > 0) this.#mayHaveMore = true;
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, `could not claim due work: ${what}`);
    }
  }

  #begin(task: Task): void {
    const { handle, log, what } = this.#options;
    const run = handle(task)
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error({ err: error }, `due work failed: ${what}`);
      })
      .finally(() => {
        this.#running.delete(run);
        this.wake();
      });
    this.#running.set(run, task);
  }
}
