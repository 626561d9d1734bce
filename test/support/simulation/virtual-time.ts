import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Sql } from '../../../packages/server/src/platform/database/database.ts';
import type { Random } from './random.ts';
import type { VirtualTimers } from './timers.ts';

/** Where every history begins. */
const beginning = Date.UTC(2027, 0, 4, 9);

/**
 * Prepares a database for simulations: `now()` and `clock_timestamp()` of statements and triggers read the instant of a sequence, which is
 * not part of any transaction. Sessions that are opened later find these functions before those of PostgreSQL.
 */
export async function installVirtualClock(sql: Sql, database: string): Promise<void> {
  await sql.unsafe(`
    CREATE SCHEMA simulation;
    CREATE SEQUENCE simulation.instant MINVALUE 0 START ${beginning};
    CREATE FUNCTION simulation.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS 'SELECT pg_catalog.to_timestamp(last_value / 1000.0) FROM simulation.instant';
    CREATE FUNCTION simulation.now() RETURNS timestamptz LANGUAGE sql STABLE
      AS 'SELECT pg_catalog.to_timestamp(last_value / 1000.0) FROM simulation.instant';
    ALTER DATABASE ${database} SET search_path = simulation, public, pg_catalog;`);
}

/** The time of a history: that of the database, and the timers of the processes. */
export class VirtualTime {
  readonly #sql: Sql;
  readonly #timers: VirtualTimers;
  readonly #randomUUID = crypto.randomUUID;
  readonly #random = Math.random;
  #now = beginning;

  private constructor(sql: Sql, timers: VirtualTimers) {
    this.#sql = sql;
    this.#timers = timers;
  }

  /** Until `stop`, timers, ids and what is random in this process follow from the history. */
  static async start(sql: Sql, random: Random, timers: VirtualTimers): Promise<VirtualTime> {
    const time = new VirtualTime(sql, timers);
    await time.advance(0);
    await sql`UPDATE clock SET shift_ms = 0, outage_ms = 0, doubt_until = NULL`;
    timers.start();
    // It only spreads times, so it does not need to differ.
    Math.random = () => 0.5;
    crypto.randomUUID = () => random.uuid() as ReturnType<typeof crypto.randomUUID>;
    syncBuiltinESMExports();
    return time;
  }

  stop(): void {
    this.#timers.stop();
    Math.random = this.#random;
    crypto.randomUUID = this.#randomUUID;
    syncBuiltinESMExports();
  }

  get now(): number {
    return this.#now;
  }

  /** Moves the database's clock. The service was not out meanwhile. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const sql = this.#sql;
    await sql`
      WITH moved AS (SELECT setval('simulation.instant', ${this.#now}))
      UPDATE clock SET seen_at = to_timestamp(${this.#now}::float8 / 1000) FROM moved`;
  }

  /** Moves the database's clock, and leaves it to the processes to note it. */
  async moveClock(ms: number): Promise<void> {
    this.#now += ms;
    await this.#sql`SELECT setval('simulation.instant', ${this.#now})`;
  }
}
