import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import { CachedReading } from '../cached-reading.ts';
import type { Database, NamedPool } from '../database/database.ts';
import type { PoolLoad } from '../database/driver/pool.ts';
import { oldestTransaction } from '../database/oldest-transaction.ts';
import type { RowChanges } from '../database/row-changes.ts';

/** A database that does not answer within this time counts as down. */
const answerMs = 2_000;

interface Watched {
  readonly database: Database;
  readonly changes: RowChanges;
  /** All connections that the process may open. */
  readonly connections: number;
}

/** Metrics of the connections to the database. */
export function watchDatabase(registry: Registry, { database, changes, connections }: Watched): void {
  new Gauge({
    name: 'usher_database_pool_size',
    help: 'Connections this process may open',
    registers: [registry],
  }).set(connections);
  countConnections(registry, database);
  watchPools(registry, database.named);
  watchChanges(registry, changes);
  watchTransactions(registry, database);
}

function watchTransactions(registry: Registry, { pulse }: Database): void {
  const reading = new CachedReading(async () => oldestTransaction(pulse.sql));
  new Gauge({
    name: 'usher_database_oldest_transaction_seconds',
    help: 'Age of the oldest write transaction in any database of the PostgreSQL server; the same from every process',
    registers: [registry],
    async collect() {
      const oldest = pulse.isSilent ? null : await reading.get();
      this.set(oldest?.seconds ?? 0);
    },
  });
}

/** Asks over the connection of the pulse: a pool without a free connection does not make the database look dead. */
function countConnections(registry: Registry, { pulse }: Database): void {
  const connectionsByState = async (): Promise<readonly { state: string; count: number }[]> => pulse.sql`
    SELECT coalesce(state, 'unknown') AS state, count(*)::integer AS count
      FROM pg_stat_activity
     WHERE application_name = current_setting('application_name') AND datname = current_database()
     GROUP BY 1`;
  const read = async () =>
    pulse.isSilent
      ? null
      : Promise.race([connectionsByState().catch(() => null), sleep(answerMs, null, { ref: false })]);
  // One statement serves both metrics of a scrape.
  let reading: ReturnType<typeof read> | null = null;
  const share = async () => (reading ??= read().finally(() => (reading = null)));
  new Gauge({
    name: 'usher_database_up',
    help: '1 while the database responds',
    registers: [registry],
    async collect() {
      this.set((await share()) === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'usher_database_connections',
    help: "This process's connections by state",
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const rows = await share();
      this.reset();
      for (const { state, count } of rows ?? []) this.set({ state }, count);
    },
  });
}

/** A gauge or counter for each number of a pool's load. Counters are set to their totals, which the driver adds up. */
function watchPools(registry: Registry, pools: Iterable<NamedPool>): void {
  const labelNames = ['pool'] as const;
  const gauge = (name: string, help: string, read: (load: PoolLoad, size: number) => number): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const { name: pool, size, load } of pools) this.set({ pool }, read(load(), size));
      },
    });
  };
  const counter = (name: string, help: string, read: (load: PoolLoad) => number): void => {
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const { name: pool, load } of pools) this.inc({ pool }, read(load()));
      },
    });
  };
  gauge('usher_database_pool_limit', 'Connections that the pool may open', (_, size) => size);
  gauge(
    'usher_database_pool_in_use',
    'Connections that run a statement or belong to a transaction',
    ({ inUse }) => inUse,
  );
  gauge('usher_database_pool_idle', 'Open connections that nothing uses', ({ idle }) => idle);
  gauge('usher_database_pool_waiting', 'Statements that wait for a connection', ({ waiting }) => waiting);
  gauge(
    'usher_database_pool_oldest_wait_seconds',
    'How long the first of the waiting statements has waited',
    ({ oldestWaitMs }) => oldestWaitMs / 1_000,
  );
  counter('usher_database_pool_waits_total', 'Statements that had to wait for a connection', ({ waits }) => waits);
  counter(
    'usher_database_pool_wait_seconds_total',
    'How long statements have waited for a connection, added up',
    ({ waitedMs }) => waitedMs / 1_000,
  );
  counter(
    'usher_database_pool_timeouts_total',
    'Statements rejected because they waited for a connection for too long',
    ({ timeouts }) => timeouts,
  );
}

function watchChanges(registry: Registry, changes: RowChanges): void {
  const registers = [registry];
  new Gauge({
    name: 'usher_change_channel_live',
    help: '1 while this process receives notifications of changed rows; 0 while it answers without caches',
    registers,
    collect() {
      this.set(changes.live ? 1 : 0);
    },
  });
  new Gauge({
    name: 'usher_change_channel_lag_seconds',
    help: 'Within which time a committed change has reached this process: the duration of the last heartbeat, or of the one under way',
    registers,
    collect() {
      this.set(changes.numbers.lagMs / 1_000);
    },
  });
  const counter = (name: string, help: string, read: (numbers: RowChanges['numbers']) => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(changes.numbers));
      },
    });
  };
  counter(
    'usher_change_channel_reconnects_total',
    'How often this process began to listen again after it may have missed notifications',
    ({ reconnects }) => reconnects,
  );
  counter('usher_change_notifications_total', 'Notifications of changed rows', ({ notifications }) => notifications);
}
