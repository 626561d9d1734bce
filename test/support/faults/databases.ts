import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../server.ts';
import type { Fault, FaultRun } from './fault.ts';

/** Waits until clients have seen the fault: this many more of their requests have failed. */
async function untilFailed({ load }: FaultRun, requests: number): Promise<void> {
  const { failed } = load;
  await until(() => load.failed >= failed + requests);
}

export const databaseFaults: readonly Fault[] = [
  {
    name: 'PostgreSQL crashes',
    world: 'durable',
    times: { short: 1, long: 100 },
    async inject({ world, load, random }) {
      await pause(random.below(1_500));
      await world.durable.crashDatabase(random.below(500));
      await load.goesOn(10);
    },
  },
  {
    name: 'PostgreSQL ends sessions',
    world: 'durable',
    times: { short: 4, long: 100 },
    async inject({ world, load, random }) {
      await pause(random.below(500));
      const share = random.next();
      await world.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < ${share}`;
      await load.goesOn(10);
    },
  },
  {
    name: 'The database is read-only',
    world: 'durable',
    times: { short: 1, long: 6 },
    async inject(run) {
      const { sql } = run.world;
      await sql`ALTER SYSTEM SET default_transaction_read_only = on`;
      await sql`SELECT pg_reload_conf()`;
      await untilFailed(run, 20);
      await pause(run.random.below(3_000));
      await sql`ALTER SYSTEM RESET default_transaction_read_only`;
      await sql`SELECT pg_reload_conf()`;
      await run.load.goesOn(40);
    },
  },
  {
    name: 'The disk of the database is full',
    world: 'small disk',
    times: { short: 0, long: 6 },
    async inject(run) {
      const { disk, durable } = run.world;
      disk.fill();
      await untilFailed(run, 20);
      await pause(run.random.below(5_000));
      disk.free();
      const { acknowledged } = run.load.ledgers;
      // PostgreSQL ends if it can neither write its log nor recover.
      await until(async () => {
        await durable.reviveDatabase();
        return run.load.ledgers.acknowledged >= acknowledged + 40;
      });
    },
  },
];
