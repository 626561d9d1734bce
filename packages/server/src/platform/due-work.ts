import { isDatabaseUnavailable } from './database.ts';
import type { Log } from './log.ts';

interface DueWorkOptions<Thing> {
  /** What it is about, for the log. */
  readonly what: string;
  /** So many at once in this process: one that hangs holds up no more than these. */
  readonly atOnce: number;
  /**
   * Takes up to `room` things that are due, for the length of a lease: whoever has not come back by then is taken for dead,
   * and another process has them. Fewer than asked for means that there are no more.
   */
  readonly claim: (room: number) => Promise<readonly Thing[]>;
  /** Does what is due about one. If it rejects, or never ends, another does after the lease. */
  readonly handle: (thing: Thing) => Promise<void>;
  readonly log: Log;
}

/** Every process looks so often for what is due that nobody has told it of. */
const pollMs = 1_000;

/**
 * Sees to things that are due, whichever process has written them: claims as many as it has hands free, and each on its own.
 * It looks when it is woken, when one is done, and now and then. Nothing here lasts: what is due is in the database.
 */
export class DueWork<Thing> {
  readonly #options: DueWorkOptions<Thing>;
  readonly #running = new Map<Promise<void>, Thing>();
  readonly #poll: NodeJS.Timeout;
  #claiming: Promise<void> | null = null;
  /** Something may have fallen due since the last look began. */
  #again = false;
  #stopped = false;

  constructor(options: DueWorkOptions<Thing>) {
    this.#options = options;
    this.#poll = setInterval(() => this.wake(), pollMs).unref();
  }

  /** What is being done. */
  get running(): Iterable<Thing> {
    return this.#running.values();
  }

  /** Something may be due: looks now, and not only at the next poll. */
  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
      if (this.#again && this.#room > 0) this.wake();
    });
  }

  /** Claims nothing more; resolves when what it has is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    await this.#claiming;
    await Promise.all(this.#running.keys());
  }

  get #room(): number {
    return this.#stopped ? 0 : this.#options.atOnce - this.#running.size;
  }

  async #claim(): Promise<void> {
    const { claim, log, what } = this.#options;
    try {
      while (this.#again && this.#room > 0) {
        this.#again = false;
        const things = await claim(this.#room);
        for (const thing of things) this.#begin(thing);
        // As long as there are any, there may be more.
        if (things.length > 0) this.#again = true;
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, `what is due could not be claimed: ${what}`);
    }
  }

  #begin(thing: Thing): void {
    const { handle, log, what } = this.#options;
    const run = handle(thing)
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error({ err: error }, `what is due could not be done: ${what}`);
      })
      .finally(() => {
        this.#running.delete(run);
        this.wake();
      });
    this.#running.set(run, thing);
  }
}
