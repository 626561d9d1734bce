import { setTimeout as pause } from 'node:timers/promises';
import { auditLog, deliveryLog, eventLog } from '../../../packages/server/src/platform/database/daily-logs.ts';
import { isLockTimeout, type Sql } from '../../../packages/server/src/platform/database/database.ts';

const logs = [
  { ...eventLog, made: 'make_event_days', dropped: 'drop_event_days' },
  { ...auditLog, made: 'make_audit_days', dropped: 'drop_audit_days' },
  // Webhooks drop the days of their log together with their rows.
  { ...deliveryLog, made: 'make_delivery_days', dropped: 'drop_webhooks_and_logs' },
];

/** The sweeps for which days are planted. */
export const daySweeps: ReadonlySet<string> = new Set(logs.flatMap(({ made, dropped }) => [made, dropped]));

/** Days ago, and days ahead. The events of the last 30 days are kept, and there are partitions for the next three days. */
const [oldDays, keptDays, daysAhead] = [[45, 32], [29, 12], 3];

/** What became of the partitions of one log. */
export interface DayLedger {
  readonly log: string;
  readonly made: string;
  readonly dropped: string;
  readonly old: number;
  readonly oldLeft: number;
  readonly young: number;
  readonly youngLeft: number;
  /** Days from today that have no partition. */
  readonly missing: number;
}

/** `make_day` waits for a lock for 100 ms at most. */
async function retryWhileLocked(run: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await run();
      return;
    } catch (error) {
      if (!isLockTimeout(error) || tries === maxTries) throw error;
      await pause(1_000);
    }
  }
}

const maxTries = 60;

/** Plants partitions that the sweeps have to drop, others that they must keep, and removes the furthest day, which they have to create. */
export class PlantedDays {
  readonly #sql: Sql;
  #rounds = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Plants the days that remain. */
  async begin(): Promise<void> {
    for (const log of logs) await this.#make(log, keptDays);
  }

  /** Plants the days that are dropped, and drops the one that is made again. */
  async plant(): Promise<void> {
    this.#rounds += 1;
    for (const log of logs) {
      await this.#make(log, oldDays);
      const furthest = await this.#partition(log.log, daysAhead);
      await this.#sql.unsafe(`DROP TABLE IF EXISTS ${furthest}`);
    }
  }

  async #make({ log, key }: Pick<(typeof logs)[number], 'log' | 'key'>, ago: readonly number[]): Promise<void> {
    for (const days of ago)
      await retryWhileLocked(
        async () => this.#sql`SELECT make_day(${log}, ${key}, (now() AT TIME ZONE 'UTC')::date - ${days}::integer)`,
      );
  }

  async ledger(): Promise<DayLedger[]> {
    return Promise.all(
      logs.map(async ({ log, made, dropped }) => {
        const left = async (days: readonly number[]): Promise<number> => {
          const names = await Promise.all(days.map(async (day) => this.#partition(log, -day)));
          const [row] = await this.#sql<{ count: number }[]>`
            SELECT count(*)::integer AS count FROM pg_class WHERE relname = ANY (${names}::text[])`;
          return row?.count ?? 0;
        };
        const ahead = Array.from({ length: daysAhead + 1 }, (_, day) => -day);
        return {
          log,
          made,
          dropped,
          old: this.#rounds * oldDays.length,
          oldLeft: await left(oldDays),
          young: keptDays.length,
          youngLeft: await left(keptDays),
          missing: ahead.length - (await left(ahead)),
        };
      }),
    );
  }

  async #partition(log: string, days: number): Promise<string> {
    const [row] = await this.#sql<{ name: string }[]>`
      SELECT ${log} || '_' || to_char((now() AT TIME ZONE 'UTC')::date + ${days}::integer, 'YYYYMMDD') AS name`;
    return row?.name ?? '';
  }
}
