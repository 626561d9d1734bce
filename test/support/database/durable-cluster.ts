import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase, type DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startProcesses, type Cluster } from '../processes/cluster.ts';
import { startEmbeddedCluster } from './embedded-cluster.ts';
import { databaseProcess } from '../processes/process.ts';
import { until } from '../server.ts';

/**
 * Usher processes on a PostgreSQL of their own that flushes every commit, as in production. The test run's shared
 * PostgreSQL does not flush, so there no transaction ever waits in COMMIT, and a crash would lose everything.
 */
export interface DurableCluster extends Cluster {
  /**
   * Kills PostgreSQL without letting it write anything, and starts it again after `downMs`: it recovers from its log.
   */
  crashDatabase(downMs?: number): Promise<void>;
  /** Starts PostgreSQL if it has ended, as the service manager of a machine does. */
  reviveDatabase(): Promise<void>;
}

interface Options {
  readonly nodes: number;
  /** Settings of PostgreSQL. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts PostgreSQL; by default the embedded one. */
  readonly startPostgres?: StartPostgres;
  /** Settings of the processes, beside those that every cluster has. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of PostgreSQL's data directory. */
  readonly parent?: string;
}

/** Starts PostgreSQL in a data directory. The same directory gives the same cluster again. */
type StartPostgres = (
  dataDir: string,
  settings: Readonly<Record<string, string>>,
) => Promise<{ readonly address: DatabaseAddress; stop(): Promise<void> }>;

export async function startDurableCluster({
  nodes: count,
  settings = {},
  startPostgres = startEmbeddedCluster,
  environment = {},
  parent = tmpdir(),
}: Options): Promise<DurableCluster> {
  const dataDir = mkdtempSync(join(parent, 'usher-durable-'));
  let postgres = await startPostgres(dataDir, settings);
  const database = openDatabase(postgres.address, 4);
  await migrate(database, ensureSigningKey);
  const cluster = await startProcesses(database, {
    count,
    environment: { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', USHER_LOG_LEVEL: 'error', ...environment },
    async cleanUp() {
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
  return {
    ...cluster,
    async crashDatabase(downMs = 0) {
      const pid = databaseProcess(dataDir);
      if (pid === null) throw new Error('PostgreSQL is not running');
      process.kill(pid, 'SIGQUIT');
      await until(() => databaseProcess(dataDir) === null);
      await pause(downMs);
      postgres = await startPostgres(dataDir, settings);
    },
    async reviveDatabase() {
      if (databaseProcess(dataDir) === null) postgres = await startPostgres(dataDir, settings);
    },
  };
}
