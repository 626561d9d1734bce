import type { RowChanges } from '../../platform/row-changes.ts';
import type { Sql } from '../../platform/database.ts';
import { DueWork } from '../../platform/due-work.ts';
import type { Log } from '../../platform/log.ts';
import type { Due } from './sms.ts';
import { claimDue } from './store.ts';

/** So many at once in this process: a carrier that hangs holds up no more than these. */
const atOnce = 8;
/** Longer than anything that is done about an SMS takes. Whoever has it for longer than this is taken for dead. */
const leaseMs = 30_000;
/** When stopping, what is under way with the carrier is waited for so long. */
const stopGraceMs = 3_000;

interface OutboxOptions {
  readonly sql: Sql;
  readonly changes: RowChanges;
  readonly log: Log;
  readonly handle: (due: Due, stopping: AbortSignal) => Promise<void>;
}

/** Sees to every SMS that is due. */
export class Outbox {
  readonly #stopping = new AbortController();
  readonly #work: DueWork<Due>;

  constructor({ sql, changes, log, handle }: OutboxOptions) {
    this.#work = new DueWork({
      what: 'an SMS',
      atOnce,
      claim: async (room) => claimDue(sql, room, leaseMs),
      handle: async (due) => handle(due, this.#stopping.signal),
      log,
    });
    changes.on('sms', () => this.wake());
  }

  wake(): void {
    this.#work.wake();
  }

  /** Finishes what it has; what the carrier keeps for too long is left to others. */
  async stop(): Promise<void> {
    const cut = setTimeout(() => this.#stopping.abort(), stopGraceMs);
    await this.#work.stop();
    clearTimeout(cut);
  }
}
