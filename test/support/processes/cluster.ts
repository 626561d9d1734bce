import {
  openDatabase,
  type Database,
  type DatabaseAddress,
} from '../../../packages/server/src/platform/database/database.ts';
import { urlOf as urlOfUserDatabase } from '../../../packages/server/src/config-database.ts';
import { cloneDatabase } from '../database/database.ts';
import { launch, temporaryDirectory, type UsherProcess } from './process.ts';
import type { ServerHandle } from '../world.ts';

/** Real processes on one database. */
export interface Cluster {
  readonly database: Database;
  readonly nodes: UsherProcess[];
  readonly dataDir: string;
  /** Starts another process. `url` may lead to the database through a proxy. */
  start(url?: string): Promise<UsherProcess>;
  /** Starts another process without waiting until it is ready. */
  launch(url?: string): UsherProcess;
  /** The handle of a process, as test helpers take it. */
  reach(node: UsherProcess): ServerHandle;
  [Symbol.asyncDispose](): Promise<void>;
}

export function urlOf(address: DatabaseAddress): string {
  if (address.kind !== 'socket') return urlOfUserDatabase(address);
  return `postgres://${address.user}@localhost/${address.database}?host=${encodeURIComponent(address.directory)}`;
}

export async function startCluster(count: number, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const address = await cloneDatabase();
  const environment = { USHER_ADMIN_KEY_ID: 'cluster', USHER_ADMIN_KEY_SECRET: 'known-to-the-test-alone', ...more };
  return startProcesses(openDatabase(address, 4), { count, environment });
}

interface ProcessesInput {
  readonly count: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs after the processes have ended and the database is closed. */
  readonly cleanUp?: () => Promise<void>;
}

/** If a process does not start, the others are killed: a running child would keep the test file from ending. */
export async function startProcesses(
  database: Database,
  { count, environment, cleanUp }: ProcessesInput,
): Promise<Cluster> {
  const directory = temporaryDirectory();
  const nodes: UsherProcess[] = [];
  const launchNode = (url = urlOf(database.address)): UsherProcess => {
    const unlimited = { USHER_RATE_LIMIT_PER_TOKEN: '1000000000', USHER_RATE_LIMIT_SIGN_IN: '1000000000' };
    const node = launch({ dataDir: directory.path, environment: { DATABASE_URL: url, ...unlimited, ...environment } });
    nodes.push(node);
    return node;
  };
  const start = async (url?: string): Promise<UsherProcess> => launchNode(url).ready();
  const dispose = async (): Promise<void> => {
    await Promise.all(nodes.map(async (node) => node.stop('SIGKILL')));
    await database.close(1_000);
    directory.remove();
    await cleanUp?.();
  };
  try {
    await Promise.all(Array.from({ length: count }, async () => start()));
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    database,
    nodes,
    dataDir: directory.path,
    start,
    launch: launchNode,
    reach: ({ url }) => ({ url, database }),
    [Symbol.asyncDispose]: dispose,
  };
}
