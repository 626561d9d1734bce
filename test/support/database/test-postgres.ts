import { ensureSigningKey } from '../../../packages/server/src/identity/signing-keys.ts';
import { connect, openDatabase } from '../../../packages/server/src/platform/database/database.ts';
import { migrate } from '../../../packages/server/src/platform/database/migrations/migrations.ts';
import { startEmbeddedCluster } from './embedded-cluster.ts';
import { startOldestPostgres } from './oldest-postgres.ts';

/** A PostgreSQL with a migrated database, `template_usher`, that test files clone: see `cloneDatabase`. */
export interface TestPostgres {
  /** The variables by which test files find the server. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const settings = {
  // The data need not survive the test run.
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  // Five files run in parallel, each with up to three processes of 30 connections and some servers.
  max_connections: '800',
};

/** The newest PostgreSQL is the embedded one; the oldest is the oldest that Usher supports. */
export async function startTestPostgres(dataDir: string, version: 'newest' | 'oldest'): Promise<TestPostgres> {
  const start = version === 'oldest' ? startOldestPostgres : startEmbeddedCluster;
  const postgres = await start(dataDir, settings);
  const { address } = postgres;
  if (address.kind !== 'socket') throw new Error('the embedded database is reached by socket');
  const admin = connect(address, { max: 1 });
  await admin`CREATE DATABASE template_usher`;
  await admin.end();
  const template = openDatabase({ ...address, database: 'template_usher' }, 2);
  await migrate(template, ensureSigningKey);
  await template.close();
  const environment = { TEST_DATABASE_SOCKET: address.directory, TEST_POSTGRES: version };
  return { environment, stop: async () => postgres.stop() };
}
