import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startProcesses } from '../processes/cluster.ts';
import { FaultWorld } from '../faults/world.ts';
import { startDatabaseBalancer } from './database-balancer.ts';
import { PatroniCluster } from './patroni-cluster.ts';

/** How Usher finds the primary. */
export const topologies = ['HAProxy', 'several hosts'] as const;
type Topology = (typeof topologies)[number];

/** Changes the recipe so that Patroni replaces a dead primary within seconds. */
export const impatient = {
  'ttl: 20': 'ttl: 5',
  'loop_wait: 5': 'loop_wait: 1',
  'retry_timeout: 5': 'retry_timeout: 2',
};

interface FailoverWorldOptions {
  readonly topology: Topology;
  readonly isSynchronous?: boolean;
  readonly changes?: Readonly<Record<string, string>>;
}

/** Two processes on two PostgreSQL servers under Patroni. */
export interface FailoverWorld {
  readonly postgres: PatroniCluster;
  readonly world: FaultWorld;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function openFailoverWorld({ topology, ...options }: FailoverWorldOptions): Promise<FailoverWorld> {
  const stack = new AsyncDisposableStack();
  try {
    const postgres = stack.use(await PatroniCluster.start(options));
    const balancer = topology === 'HAProxy' ? stack.use(await startDatabaseBalancer(postgres.nodes)) : null;
    const url = balancer === null ? postgres.url : postgres.urlAt([balancer]);
    const world = await FaultWorld.serve([url, url], async (environment) => {
      const database = openDatabase({ kind: 'url', url: postgres.url }, 4);
      await migrate(database, ensureSigningKey);
      const settings = { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...environment };
      return startProcesses(database, { count: 0, environment: settings });
    });
    stack.use(world);
    const owned = stack.move();
    return { postgres, world, [Symbol.asyncDispose]: async () => owned.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
