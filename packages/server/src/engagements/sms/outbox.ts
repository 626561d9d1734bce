import type { ChangeFeed } from '../../platform/change-feed.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Due } from './sms.ts';
import { claimDue } from './store.ts';

/** Every process looks so often for what is due that nobody has told it of. */
const pollMs = 1_000;
/** So many at once in this process: a carrier that hangs holds up no more than these. */
const mostAtOnce = 8;
/** Longer than anything that is done about an SMS takes. Whoever has it for longer than this is taken for dead. */
const leaseMs = 30_000;
/** When stopping, what is under way with the carrier is waited for so long. */
const stopGraceMs = 3_000;

interface OutboxOptions {
  readonly sql: Sql;
  readonly feed: ChangeFeed;
  readonly log: Log;
  readonly handle: (due: Due, stopping: AbortSignal) => Promise<void>;
}

/**
 * Sees to every SMS that is due, whichever process wrote it: claims as many as it has hands free, and each on its own. It
 * looks when it is woken, when one is done, and now and then. Nothing here lasts: what is due is in the database.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #poll: NodeJS.Timeout;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #claiming: Promise<void> | null = null;
  /** Something may have fallen due since the last look began. */
  #again = false;
  #stopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    options.feed.on('sms', () => this.wake());
    this.#poll = setInterval(() => this.wake(), pollMs).unref();
  }

  wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
      if (this.#again && this.#running.size < mostAtOnce) this.wake();
    });
  }

  /** Claims nothing more and finishes what it has; what the carrier keeps for too long is left to others. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#poll);
    await this.#claiming;
    const cut = setTimeout(() => this.#stopping.abort(), stopGraceMs);
    await Promise.all(this.#running);
    clearTimeout(cut);
  }

  async #claim(): Promise<void> {
    const { sql, log } = this.#options;
    try {
      while (this.#again && !this.#stopped && this.#running.size < mostAtOnce) {
        this.#again = false;
        const due = await claimDue(sql, mostAtOnce - this.#running.size, leaseMs);
        for (const each of due) this.#handle(each);
      }
    } catch (error) {
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'what SMS are due could not be found out');
    }
  }

  #handle(due: Due): void {
    const { handle, log } = this.#options;
    const run = handle(due, this.#stopping.signal)
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log.error({ err: error, sms: due.id }, 'an SMS could not be seen to');
      })
      .finally(() => {
        this.#running.delete(run);
        this.wake();
      });
    this.#running.add(run);
  }
}
