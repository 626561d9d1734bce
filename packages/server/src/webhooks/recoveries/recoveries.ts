import { inTransaction, type Sql } from '../../platform/database.ts';
import { DueWork } from '../../platform/due-work.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { holdWebhook, usabilityOf } from '../coverage.ts';
import { putBackFinished, putBackHeld } from '../deliveries/put-back.ts';
import type { TakenRecovery } from './recovery.ts';
import {
  endRecovery,
  holdRecovery,
  listMissed,
  moveRecovery,
  returnRecovery,
  takeRecoveries,
  type Missed,
} from './store.ts';

/** Deliveries that one transaction puts back. */
const inBatch = 500;
/** Recoveries that a process is at. */
const atOnce = 4;
/** Longer than a batch may take. Each batch renews it. */
const leaseSec = 30;

interface RecoveriesOptions {
  readonly sql: Sql;
  readonly log: Log;
  /** Something of the account is to be sent again. */
  readonly onPutBack: (accountId: AccountId) => void;
}

/**
 * Puts back what webhooks have missed, in the background. A recovery is a row that says how far it has come, which moves in
 * the transaction of each batch: it is taken up there by whichever process, after a crash at whichever moment.
 */
export class Recoveries {
  readonly #options: RecoveriesOptions;
  readonly #work: DueWork<TakenRecovery>;
  #stopped = false;

  constructor(options: RecoveriesOptions) {
    this.#options = options;
    this.#work = new DueWork({
      what: 'a recovery',
      atOnce,
      claim: async (room) => takeRecoveries(options.sql, room, leaseSec),
      handle: async (recovery) => this.#recover(recovery),
      log: options.log,
    });
  }

  /** There may be a new one. */
  look(): void {
    this.#work.wake();
  }

  /** Ends with the batches under way; what is left of them is given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work.stop();
  }

  async #recover(recovery: TakenRecovery): Promise<void> {
    const { sql, onPutBack } = this.#options;
    let goesOn = true;
    while (goesOn && !this.#stopped) {
      const batch = await putBackBatch(sql, recovery);
      ({ goesOn } = batch);
      if (batch.recovered > 0) onPutBack(recovery.accountId);
    }
    if (goesOn) await returnRecovery(sql, recovery);
  }
}

interface Batch {
  readonly recovered: number;
  readonly goesOn: boolean;
}

const over: Batch = { recovered: 0, goesOn: false };

/** The next ones, and how far that is, in one transaction. Whoever else puts back by the webhook waits, or we for them. */
async function putBackBatch(pool: Sql, recovery: TakenRecovery): Promise<Batch> {
  return inTransaction(pool, async (sql) => {
    const webhook = await holdWebhook(sql, recovery.webhookId);
    const progress = await holdRecovery(sql, recovery);
    if (progress === null) return over;
    if (webhook === null || usabilityOf(webhook) !== 'usable') {
      await endRecovery(sql, recovery, { state: 'stopped', recovered: 0 });
      return over;
    }
    const { rows, next } = await listMissed(sql, recovery.webhookId, { ...progress, limit: inBatch });
    const recovered = await putBackMissed(sql, rows, webhook);
    if (next === null) await endRecovery(sql, recovery, { state: 'finished', recovered });
    else await moveRecovery(sql, recovery, { next, recovered, leaseSec });
    return { recovered, goesOn: next !== null };
  });
}

async function putBackMissed(
  sql: Sql,
  missed: readonly Missed[],
  { destination_id: destinationId }: NonNullable<Awaited<ReturnType<typeof holdWebhook>>>,
): Promise<number> {
  const held = missed.flatMap(({ id, finished_at: at }) => (at === null ? [id] : []));
  const failed = missed.flatMap(({ id, finished_at: at }) => (at === null ? [] : [{ id, at: at.getTime() }]));
  // In order with the others of their engagement.
  const back = { destinationId, parked: false };
  let count = held.length === 0 ? 0 : await putBackHeld(sql, { ...back, ids: held });
  if (failed.length > 0) {
    const times = failed.map(({ at }) => at);
    const span = { from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) };
    const ids = failed.map(({ id }) => id);
    count += await putBackFinished(sql, { ...back, ...span, ids, states: ['exhausted'] });
  }
  return count;
}
