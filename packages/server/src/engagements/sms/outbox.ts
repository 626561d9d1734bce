import type { RowChanges } from '../../platform/database/row-changes.ts';
import type { Sql } from '../../platform/database/database.ts';
import { DueWork } from '../../platform/database/due-work.ts';
import type { Log } from '../../platform/log.ts';
import type { Due } from './sms.ts';
import { claimDue } from './store.ts';

/** SMS processed concurrently by this process: a carrier that hangs blocks at most this many. */
const concurrency = 8;
/** Longer than processing an SMS takes. A process that holds an SMS longer counts as dead. */
const leaseMs = 30_000;
/** How long a stop waits for requests to the carrier. */
const stopGraceMs = 3_000;

interface OutboxOptions {
  readonly sql: Sql;
  readonly changes: RowChanges;
  readonly log: Log;
  readonly handle: (due: Due, stopping: AbortSignal) => Promise<void>;
}

/** Processes every SMS that is due, outbound and inbound. */
export class Outbox {
  readonly #stopping = new AbortController();
  readonly #work: DueWork<Due>;

  constructor({ sql, changes, log, handle }: OutboxOptions) {
    this.#work = new DueWork({
      what: 'an SMS',
      atOnce: concurrency,
      claim: async (room) => claimDue(sql, room, leaseMs),
      handle: async (due) => handle(due, this.#stopping.signal),
      log,
    });
    changes.on('sms', () => this.wake());
  }

  wake(): void {
    this.#work.wake();
  }

  /** Finishes SMS in progress. Requests that take too long are aborted, and another process retries them. */
  async stop(): Promise<void> {
    const abort = setTimeout(() => this.#stopping.abort(), stopGraceMs);
    await this.#work.stop();
    clearTimeout(abort);
  }
}
