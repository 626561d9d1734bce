import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { countStatements } from '../measuring/counting.ts';
import { withDatabase, type Databases } from '../measuring/databases.ts';
import { temporaryFolder } from '../measuring/processes.ts';
import { processorSeconds } from '../measuring/processor-time.ts';
import { startUsher, type Usher } from '../measuring/usher.ts';

/** Server processes on one database. */
export interface Cluster {
  readonly processes: readonly Usher[];
  /** Those that clients reach: all of them, or the home of the only account. */
  readonly reached: readonly Usher[];
  readonly databaseUrl: string;
}

interface ClusterOptions {
  readonly name: string;
  readonly processes: number;
  /** The load balancer leads all requests of the account to one process, as long as that one is up. */
  readonly hasHome?: boolean;
}

export async function startCluster(
  scope: AsyncDisposableStack,
  databases: Databases,
  { name, processes, hasHome = false }: ClusterOptions,
): Promise<Cluster> {
  const databaseUrl = await databases.createForUsher(name);
  const started: Usher[] = [];
  while (started.length < processes) started.push(await startUsher(scope, temporaryFolder(scope), databaseUrl));
  return { processes: started, reached: hasHome ? started.slice(0, 1) : started, databaseUrl };
}

/** Where the nth client connects, as behind a load balancer. */
export function urlFor({ reached }: Cluster, n: number): string {
  const usher = reached[n % reached.length];
  if (usher === undefined) throw new Error('the cluster has no processes');
  return usher.url;
}

/** What a cluster has used: processor milliseconds of the Node processes and of PostgreSQL's, and SQL statements. */
export interface Cost {
  readonly nodeMs: number;
  readonly postgresMs: number;
  readonly statements: number;
}

/** What the cluster uses while `work` runs. Nothing else may use this cluster meanwhile. */
async function costOf({ processes, databaseUrl }: Cluster, work: () => Promise<void>): Promise<Cost & { ms: number }> {
  return withDatabase(databaseUrl, async (sql) => {
    await countStatements(sql);
    const before = await usedBy(processes, sql);
    const began = performance.now();
    await work();
    const ms = performance.now() - began;
    const after = await usedBy(processes, sql);
    return { ...combine(after, before, (one, other) => one - other), ms };
  });
}

/** What an idle cluster uses in a second. */
export async function idleCost(cluster: Cluster, seconds: number): Promise<Cost> {
  const cost = await costOf(cluster, async () => sleep(seconds * 1000));
  return combine(cost, cost, (used) => (used / cost.ms) * 1000);
}

/** What the cluster uses for each unit of work, less what it uses when it is idle. */
export async function costPerUnit(cluster: Cluster, units: number, work: () => Promise<void>): Promise<Cost> {
  const cost = await costOf(cluster, work);
  const idle = await idleCost(cluster, cost.ms / 1000);
  return combine(cost, idle, (used, usedIdle) => (used - (usedIdle * cost.ms) / 1000) / units);
}

export function combine(one: Cost, other: Cost, by: (one: number, other: number) => number): Cost {
  return {
    nodeMs: by(one.nodeMs, other.nodeMs),
    postgresMs: by(one.postgresMs, other.postgresMs),
    statements: by(one.statements, other.statements),
  };
}

async function usedBy(processes: readonly Usher[], sql: Sql): Promise<Cost> {
  // Other clusters use the same PostgreSQL, so only the connections to this database count.
  const backends = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
  return {
    nodeMs: millisecondsOf(processes.map(({ pid }) => pid)),
    postgresMs: millisecondsOf(backends.map(({ pid }) => pid)),
    statements: await countStatements(sql),
  };
}

function millisecondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + processorSeconds(pid), 0) * 1000;
}
