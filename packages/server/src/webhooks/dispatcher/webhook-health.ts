import type { WebhookId } from '../../events/attach-webhooks.ts';
import { inTransaction, isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Attempt } from '../channels/attempt.ts';
import { clearAlarms } from '../health-store.ts';
import { reportWebhooks } from '../report-webhooks.ts';
import { disableWebhook } from '../set-aside.ts';
import type { CachedWebhook } from './webhook-cache.ts';

/** D8.6: a webhook that has failed for this long, without one success, is disabled. */
const maxFailingDays = 5;
const maxFailingMs = maxFailingDays * 86_400_000;

/** The part of `ClockWatch` that is needed here. */
interface HealthClock {
  databaseNow(): number;
  readonly isInDoubt: boolean;
}

/** The health of webhooks: stores since when they have been failing, and disables those that have ended or failed for too long. */
export class WebhookHealth {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #failing = new Set<WebhookId>();
  readonly #working = new Set<WebhookId>();
  /** Those of `#working` whose failure was reported. */
  readonly #recovered = new Set<WebhookId>();
  readonly #toDisable = new Map<WebhookId, Pick<Parameters<typeof disableWebhook>[1], 'because' | 'asOf'>>();

  readonly #clock: HealthClock;

  constructor({ sql, log, clock }: { readonly sql: Sql; readonly log: Log; readonly clock: HealthClock }) {
    this.#sql = sql;
    this.#log = log;
    this.#clock = clock;
  }

  note(webhook: CachedWebhook, { verdict }: Attempt): void {
    const { id, failingSince, isAlarmed, endsBecause, updatedAt: asOf } = webhook;
    if (verdict === 'ended') {
      this.#toDisable.set(id, { because: endsBecause, asOf });
      // Takes effect now, before it is stored.
      webhook.enabled = false;
    } else if (verdict === 'delivered') {
      this.#failing.delete(id);
      if (failingSince !== null || isAlarmed) this.#working.add(id);
      if (isAlarmed) this.#recovered.add(id);
      webhook.failingSince = null;
      webhook.isAlarmed = false;
    } else if (failingSince === null) {
      this.#working.delete(id);
      this.#failing.add(id);
      webhook.failingSince = new Date(this.#clock.databaseNow());
    } else if (this.#hasFailedLong(failingSince)) this.#toDisable.set(id, { because: 'failing', asOf });
  }

  /** `false` while the clock is in doubt: a clock that was set forward would disable every webhook that fails at that moment. */
  #hasFailedLong(since: Date): boolean {
    return !this.#clock.isInDoubt && this.#clock.databaseNow() - since.getTime() > maxFailingMs;
  }

  /**
   * Stores changes, if there are any. Webhooks are locked in the same order as by changes of roles. Nobody is notified of the events:
   * readers of the log poll it, and an event about a webhook may take a second.
   */
  async write(): Promise<void> {
    const sql = this.#sql;
    const noted = { failing: [...this.#failing], working: [...this.#working], recovered: [...this.#recovered] };
    for (const set of [this.#failing, this.#working, this.#recovered]) set.clear();
    try {
      if (noted.recovered.length > 0) await inTransaction(sql, async (own) => writeRecoveries(own, noted));
      else if (noted.failing.length + noted.working.length > 0) await writeStarts(sql, noted);
      for (const [webhookId, { because, asOf }] of this.#toDisable) {
        if (await disableWebhook(sql, { webhookId, because, asOf }))
          this.#log.warn({ webhookId, because }, 'webhook disabled');
        this.#toDisable.delete(webhookId);
      }
    } catch (error) {
      this.#putBack(noted);
      if (!isDatabaseUnavailable(error)) this.#log.error({ err: error }, 'could not store webhook health');
    }
  }

  /** Changes that could not be stored are stored with the next write, unless the webhook has changed its state since. */
  #putBack({ failing, working, recovered }: Noted): void {
    for (const id of failing) if (!this.#working.has(id)) this.#failing.add(id);
    for (const id of working) if (!this.#failing.has(id)) this.#working.add(id);
    for (const id of recovered) this.#recovered.add(id);
  }
}

interface Noted {
  readonly failing: readonly WebhookId[];
  readonly working: readonly WebhookId[];
  readonly recovered: readonly WebhookId[];
}

/** Stores since when webhooks have been failing; those that work have no such time. */
async function writeStarts(sql: Sql, { failing, working }: Noted): Promise<void> {
  await sql`
    WITH noted AS (
           SELECT id FROM webhooks
            WHERE id = ANY(${[...failing, ...working]}::uuid[])
            ORDER BY id
              FOR NO KEY UPDATE)
    UPDATE webhooks w
       SET failing_since = CASE WHEN w.id = ANY(${[...failing]}::uuid[]) THEN coalesce(w.failing_since, now()) END
      FROM noted
     WHERE w.id = noted.id`;
}

async function writeRecoveries(sql: Sql, noted: Noted): Promise<void> {
  await writeStarts(sql, noted);
  await reportWebhooks(sql, 'webhook.recovered', await clearAlarms(sql, noted.recovered));
}
