import { connect, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { startEmbeddedPostgres } from '../../packages/server/src/platform/embedded/embedded-postgres.ts';
import { urlOf } from '../../test/support/processes/cluster.ts';
import { temporaryFolder } from './processes.ts';
import { startUsher } from './usher.ts';

/** Statements that fill tables may take minutes. */
const statementTimeoutMs = 600_000;
const template = 'usher';

/** One embedded PostgreSQL with any number of databases. Each method replaces the database of that name and returns its URL. */
export interface Databases {
  createEmpty(name: string): Promise<string>;
  /** A database as the first start of Usher leaves it. */
  createForUsher(name: string): Promise<string>;
}

export async function startDatabases(
  scope: AsyncDisposableStack,
  settings: Readonly<Record<string, string>> = {},
): Promise<Databases> {
  const server = await startEmbeddedPostgres(temporaryFolder(scope), settings);
  scope.defer(async () => server.stop());
  const { address } = server;
  if (address.kind !== 'socket') throw new Error('the embedded database must be reached by a socket');
  const sql = connect(address, { max: 1, connection: { statement_timeout: statementTimeoutMs } });
  scope.defer(async () => sql.end({ timeout: 1 }));
  const recreate = async (name: string, from: string): Promise<string> => {
    await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`;
    await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(from)}`;
    return urlOf({ ...address, database: name });
  };
  const prepareTemplate = async (): Promise<void> => {
    const usher = await startUsher(scope, temporaryFolder(scope), await recreate(template, 'template0'));
    await usher.stop();
  };
  let prepared: Promise<void> | null = null;
  return {
    createEmpty: async (name) => recreate(name, 'template0'),
    async createForUsher(name) {
      await (prepared ??= prepareTemplate());
      return recreate(name, template);
    },
  };
}

/** Opens one connection to the database while `use` runs. */
export async function withDatabase<T>(url: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect({ kind: 'url', url }, { max: 1, connection: { statement_timeout: statementTimeoutMs } });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

/** After a bulk insert: gives the planner its statistics, and keeps a checkpoint from running during the measurement. */
export async function vacuumAndCheckpoint(url: string): Promise<void> {
  await withDatabase(url, async (sql) => {
    await sql`VACUUM ANALYZE`;
    await sql`CHECKPOINT`;
  });
}
