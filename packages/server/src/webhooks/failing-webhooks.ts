import { inTransaction, isDatabaseUnavailable, type Sql } from '../platform/database/database.ts';
import type { Log } from '../platform/log.ts';
import type { WorkRuns } from '../platform/periodic-work.ts';
import { endOutages, markFailing } from './health-store.ts';
import { steadyMs } from './outage.ts';
import { reportWebhooks } from './report-webhooks.ts';

/** How often every process looks. */
export const checkMs = 60_000;
/** A failing webhook that has delivered nothing for this long is reported. */
const reportAfterMs = 3_600_000;
/** Webhooks per transaction; the next check continues. */
const batchSize = 100;

interface Options {
  readonly sql: Sql;
  readonly clock: { databaseNow(): number; readonly isInDoubt: boolean };
  readonly log: Log;
  readonly runs: WorkRuns;
}

/**
 * Reports webhooks that have been failing for an hour, and those that have recovered (D8.13). Time alone makes a webhook due: after
 * some failures its next attempt is hours away. While the clock is in doubt nothing is reported, because a clock that was set forward would report every failure.
 */
export class FailingWebhooks {
  readonly #options: Options;
  readonly #timer: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#timer = setInterval(() => void this.check(), checkMs).unref();
  }

  async check(): Promise<void> {
    const { sql: pool, clock, log, runs } = this.#options;
    if (clock.isInDoubt) return;
    const ago = (ms: number) => ({ before: new Date(clock.databaseNow() - ms), limit: batchSize });
    try {
      await inTransaction(pool, async (sql) =>
        reportWebhooks(sql, 'webhook.recovered', await endOutages(sql, ago(steadyMs))),
      );
      await inTransaction(pool, async (sql) =>
        reportWebhooks(sql, 'webhook.failing', await markFailing(sql, ago(reportAfterMs))),
      );
      runs.succeeded();
    } catch (error) {
      runs.failed();
      if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'could not report failing webhooks; retrying');
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
