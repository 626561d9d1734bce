import type { WebhookId } from '../../events/attach-webhooks.ts';
import { isDatabaseUnavailable, type Sql } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import type { Attempt } from '../channels/attempt.ts';
import { disableWebhook } from '../set-aside.ts';
import type { CalledWebhook } from './webhook-book.ts';

/** D8.6: one that has failed for so long, and not succeeded once, is disabled. */
const failingDays = 5;
const failingMs = failingDays * 86_400_000;

/** What is asked of the database's clock: see `ClockWatch`. */
interface StandingClock {
  databaseNow(): number;
  readonly isInDoubt: boolean;
}

/** Whether webhooks fare well: since when they fail is written down when it changes, and those that are done for disabled. */
export class Standing {
  readonly #sql: Sql;
  readonly #log: Log;
  readonly #failing = new Set<WebhookId>();
  readonly #working = new Set<WebhookId>();
  readonly #done = new Map<WebhookId, Pick<Parameters<typeof disableWebhook>[1], 'because' | 'asOf'>>();

  readonly #clock: StandingClock;

  constructor({ sql, log, clock }: { readonly sql: Sql; readonly log: Log; readonly clock: StandingClock }) {
    this.#sql = sql;
    this.#log = log;
    this.#clock = clock;
  }

  note(webhook: CalledWebhook, { verdict }: Attempt): void {
    const { id, failingSince, endsBecause, updatedAt: asOf } = webhook;
    if (verdict === 'ended') {
      this.#done.set(id, { because: endsBecause, asOf });
      // From this moment on, not only once it is written.
      webhook.enabled = false;
    } else if (verdict === 'delivered') {
      this.#failing.delete(id);
      if (failingSince !== null) this.#working.add(id);
      webhook.failingSince = null;
    } else if (failingSince === null) {
      this.#working.delete(id);
      this.#failing.add(id);
      webhook.failingSince = new Date(this.#clock.databaseNow());
    } else if (this.#hasFailedLong(failingSince)) this.#done.set(id, { because: 'failing', asOf });
  }

  /** Not while the clock is in doubt: a clock that was set forward would disable whatever fails at that moment. */
  #hasFailedLong(since: Date): boolean {
    return !this.#clock.isInDoubt && this.#clock.databaseNow() - since.getTime() > failingMs;
  }

  /** Most of the time there is nothing to write. Webhooks are locked in the order in which changes of roles lock them. */
  async write(): Promise<void> {
    const sql = this.#sql;
    try {
      if (this.#failing.size + this.#working.size > 0) {
        await sql`
          WITH noted AS (
                 SELECT id FROM webhooks
                  WHERE id = ANY(${[...this.#failing, ...this.#working]}::uuid[])
                  ORDER BY id
                    FOR NO KEY UPDATE)
          UPDATE webhooks w
             SET failing_since = CASE WHEN w.id = ANY(${[...this.#failing]}::uuid[]) THEN coalesce(w.failing_since, now()) END
            FROM noted
           WHERE w.id = noted.id`;
        this.#failing.clear();
        this.#working.clear();
      }
      for (const [webhookId, { because, asOf }] of this.#done) {
        if (await disableWebhook(sql, { webhookId, because, asOf }))
          this.#log.warn({ webhookId, because }, 'webhook disabled');
        this.#done.delete(webhookId);
      }
    } catch (error) {
      // What is not written now is with the next.
      if (!isDatabaseUnavailable(error)) this.#log.error({ err: error }, 'how webhooks fare could not be written down');
    }
  }
}
