import { openDatabase, type Database, type DatabaseAddress } from '../../packages/server/src/platform/database.ts';
import { cloneDatabase } from './database.ts';
import { launch, temporaryDirectory, type UsherProcess } from './process.ts';
import type { Reached } from './world.ts';

/** Real processes on one database. */
export interface Cluster {
  readonly database: Database;
  readonly nodes: UsherProcess[];
  /** One more process, on the database itself or by another way to it. */
  start(url?: string): Promise<UsherProcess>;
  /** A process as tests address servers. */
  reach(node: UsherProcess): Reached;
  [Symbol.asyncDispose](): Promise<void>;
}

export function urlOf(address: DatabaseAddress): string {
  if (address.kind === 'url') return address.url;
  return `postgres://${address.user}@localhost/${address.database}?host=${encodeURIComponent(address.directory)}`;
}

export async function startCluster(count: number, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const address = await cloneDatabase();
  const database = openDatabase(address, 4);
  const directory = temporaryDirectory();
  const nodes: UsherProcess[] = [];
  const start = async (url = urlOf(address)): Promise<UsherProcess> => {
    const environment = {
      DATABASE_URL: url,
      USHER_ADMIN_KEY_ID: 'cluster',
      USHER_ADMIN_KEY_SECRET: 'known-to-the-test-alone',
      USHER_RATE_LIMIT_PER_TOKEN: '1000000000',
      USHER_RATE_LIMIT_SIGN_IN: '1000000000',
      ...more,
    };
    const node = await launch({ dataDir: directory.path, environment });
    nodes.push(node);
    return node.ready();
  };
  await Promise.all(Array.from({ length: count }, async () => start()));
  return {
    database,
    nodes,
    start,
    reach: ({ url }) => ({ url, database }),
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map(async (node) => node.stop('SIGKILL')));
      await database.close(1_000);
      directory.remove();
    },
  };
}
