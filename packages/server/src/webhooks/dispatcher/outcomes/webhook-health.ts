import type { WebhookId } from '../../../events/subscriptions/attach-webhooks.ts';
import { inTransaction, isDatabaseUnavailable, type Sql } from '../../../platform/database/database.ts';
import type { Log } from '../../../platform/log.ts';
import type { Attempt } from '../../../channels/attempt.ts';
import { clearAlarms, writeOutages } from '../../health-store.ts';
import { afterFailure, afterSuccess, silentMs, type Outage } from '../../outage.ts';
import { reportWebhooks } from '../../report-webhooks.ts';
import { disableWebhook } from '../../set-aside.ts';
import type { CachedWebhook } from '../reading/webhook-cache.ts';

/** D8.6: a webhook that has failed for this long, without one success, is disabled. */
const maxFailingDays = 5;
const maxFailingMs = maxFailingDays * 86_400_000;

/** The part of `ClockWatch` that is needed here. */
interface HealthClock {
  databaseNow(): number;
  readonly isInDoubt: boolean;
}

/** The health of webhooks: stores their outages (D8.13), and disables those that have ended or failed for too long. */
export class WebhookHealth {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #changed = new Map<WebhookId, Outage | null>();
  /** Those that work again and whose failure was reported. */
  readonly #recovered = new Set<WebhookId>();
  readonly #toDisable = new Map<WebhookId, Pick<Parameters<typeof disableWebhook>[1], 'because' | 'asOf'>>();
  readonly #clock: HealthClock;

  constructor({ sql, log, clock }: { readonly sql: Sql; readonly log: Log; readonly clock: HealthClock }) {
    this.#sql = sql;
    this.#log = log;
    this.#clock = clock;
  }

  note(webhook: CachedWebhook, { verdict }: Attempt): void {
    const { id, endsBecause, updatedAt: asOf } = webhook;
    if (verdict === 'ended') {
      this.#toDisable.set(id, { because: endsBecause, asOf });
      // Takes effect now, before it is stored.
      webhook.enabled = false;
    } else if (verdict === 'delivered') this.#noteSuccess(webhook);
    else this.#noteFailure(webhook);
  }

  #noteSuccess(webhook: CachedWebhook): void {
    const { id, outage, isAlarmed } = webhook;
    if (outage !== null) this.#change(webhook, afterSuccess(outage, this.#clock.databaseNow()));
    if (!isAlarmed || webhook.outage !== null) return;
    this.#recovered.add(id);
    webhook.isAlarmed = false;
  }

  #noteFailure(webhook: CachedWebhook): void {
    const { id, outage: before, updatedAt: asOf } = webhook;
    const now = this.#clock.databaseNow();
    const outage = afterFailure(before, now);
    this.#change(webhook, outage);
    // While the clock is in doubt: a clock that was set forward would disable every webhook that fails at that moment.
    if (!this.#clock.isInDoubt && silentMs(outage, now) > maxFailingMs)
      this.#toDisable.set(id, { because: 'failing', asOf });
  }

  #change(webhook: CachedWebhook, outage: Outage | null): void {
    if (outage === webhook.outage) return;
    webhook.outage = outage;
    this.#changed.set(webhook.id, outage);
  }

  /**
   * Stores changes, if there are any. Webhooks are locked in the same order as by changes of roles. Nobody is notified of the events:
   * readers of the log poll it, and an event about a webhook may take a second.
   */
  async write(): Promise<void> {
    const sql = this.#sql;
    const noted = { changed: [...this.#changed], recovered: [...this.#recovered] };
    this.#changed.clear();
    this.#recovered.clear();
    try {
      if (noted.recovered.length > 0) await inTransaction(sql, async (own) => writeRecoveries(own, noted));
      else if (noted.changed.length > 0) await writeOutages(sql, noted.changed);
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
  #putBack({ changed, recovered }: Noted): void {
    for (const [id, outage] of changed) if (!this.#changed.has(id)) this.#changed.set(id, outage);
    for (const id of recovered) this.#recovered.add(id);
  }
}

interface Noted {
  readonly changed: readonly (readonly [WebhookId, Outage | null])[];
  readonly recovered: readonly WebhookId[];
}

async function writeRecoveries(sql: Sql, { changed, recovered }: Noted): Promise<void> {
  if (changed.length > 0) await writeOutages(sql, changed);
  await reportWebhooks(sql, 'webhook.recovered', await clearAlarms(sql, recovered));
}
