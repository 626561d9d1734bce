import { inTransaction, type Sql } from '../../platform/database/database.ts';
import { DueWork } from '../../platform/database/due-work.ts';
import type { AccountId } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import { lockWebhookRow, usabilityOf } from '../coverage.ts';
import { requeueFinished, requeueHeld } from '../deliveries/requeue.ts';
import type { ClaimedRecovery } from './recovery.ts';
import {
  endRecovery,
  lockRecovery,
  listMissed,
  advanceRecovery,
  releaseRecovery,
  claimRecoveries,
  type MissedDelivery,
} from './store.ts';

/** Deliveries that one transaction requeues. */
const batchSize = 500;
/** Concurrent recoveries of a process. */
const atOnce = 4;
/** Longer than a batch may take. Each batch renews the lease. */
const leaseSec = 30;

interface RecoveriesOptions {
  readonly sql: Sql;
  readonly log: Log;
  /** Called after deliveries of the account were requeued. */
  readonly onRequeued: (accountId: AccountId) => void;
}

/**
 * Requeues the deliveries that webhooks have missed, in the background. A recovery is a row with a cursor that advances in the
 * transaction of each batch, so that any process can continue after a crash at any moment.
 */
export class Recoveries {
  readonly #options: RecoveriesOptions;
  readonly #work: DueWork<ClaimedRecovery>;
  #stopped = false;

  constructor(options: RecoveriesOptions) {
    this.#options = options;
    this.#work = new DueWork({
      what: 'a recovery',
      atOnce,
      claim: async (room) => claimRecoveries(options.sql, room, leaseSec),
      handle: async (recovery) => this.#recover(recovery),
      log: options.log,
    });
  }

  /** Call this after a recovery was inserted. */
  wake(): void {
    this.#work.wake();
  }

  /** Finishes the current batches and releases unfinished recoveries. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#work.stop();
  }

  async #recover(recovery: ClaimedRecovery): Promise<void> {
    const { sql, onRequeued } = this.#options;
    let hasMore = true;
    while (hasMore && !this.#stopped) {
      const batch = await requeueBatch(sql, recovery);
      ({ hasMore } = batch);
      if (batch.recovered > 0) onRequeued(recovery.accountId);
    }
    if (hasMore) await releaseRecovery(sql, recovery);
  }
}

interface Batch {
  readonly recovered: number;
  readonly hasMore: boolean;
}

const ended: Batch = { recovered: 0, hasMore: false };

/** Requeues the next deliveries and advances the cursor, in one transaction. The lock on the webhook serialises this with replays. */
async function requeueBatch(pool: Sql, recovery: ClaimedRecovery): Promise<Batch> {
  return inTransaction(pool, async (sql) => {
    const webhook = await lockWebhookRow(sql, recovery.webhookId);
    const progress = await lockRecovery(sql, recovery);
    if (progress === null) return ended;
    if (webhook === null || usabilityOf(webhook) !== 'usable') {
      await endRecovery(sql, recovery, { state: 'stopped', recovered: 0 });
      return ended;
    }
    const { rows, next } = await listMissed(sql, recovery.webhookId, { ...progress, limit: batchSize });
    const recovered = await requeueMissed(sql, rows, webhook);
    if (next === null) await endRecovery(sql, recovery, { state: 'finished', recovered });
    else await advanceRecovery(sql, recovery, { next, recovered, leaseSec });
    return { recovered, hasMore: next !== null };
  });
}

async function requeueMissed(
  sql: Sql,
  missed: readonly MissedDelivery[],
  { destination_id: destinationId }: NonNullable<Awaited<ReturnType<typeof lockWebhookRow>>>,
): Promise<number> {
  const held = missed.flatMap(({ id, finished_at: at }) => (at === null ? [id] : []));
  const failed = missed.flatMap(({ id, finished_at: at }) => (at === null ? [] : [{ id, at: at.getTime() }]));
  // Not parked: they are sent in order with the others of their engagement.
  const back = { destinationId, parked: false };
  let count = held.length === 0 ? 0 : await requeueHeld(sql, { ...back, ids: held });
  if (failed.length > 0) {
    const times = failed.map(({ at }) => at);
    const span = { from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) };
    const ids = failed.map(({ id }) => id);
    count += await requeueFinished(sql, { ...back, ...span, ids, states: ['exhausted'] });
  }
  return count;
}
