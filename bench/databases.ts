import { connect, type Sql } from '../packages/server/src/platform/database.ts';
import { startEmbeddedPostgres } from '../packages/server/src/platform/embedded-postgres.ts';
import { urlOf } from '../test/support/cluster.ts';
import { temporaryFolder } from './processes.ts';
import { startUsher } from './usher.ts';

/** Filling takes long, and nobody waits for it. */
const statementTimeoutMs = 600_000;
const template = 'usher';

/** One PostgreSQL, of the kind that Usher brings, with any number of databases. Each method answers a URL. */
export interface Databases {
  /** A database that has nothing in it, instead of the one with that name. */
  empty(name: string): Promise<string>;
  /** A database as the first start of Usher leaves it, instead of the one with that name. */
  ofUsher(name: string): Promise<string>;
}

export async function startDatabases(
  scope: AsyncDisposableStack,
  settings: Readonly<Record<string, string>> = {},
): Promise<Databases> {
  const server = await startEmbeddedPostgres(temporaryFolder(scope), settings);
  scope.defer(async () => server.stop());
  const { address } = server;
  if (address.kind !== 'socket') throw new Error('the embedded database is reached by socket');
  const sql = connect(address, { max: 1, connection: { statement_timeout: statementTimeoutMs } });
  scope.defer(async () => sql.end({ timeout: 1 }));
  const fresh = async (name: string, from: string): Promise<string> => {
    await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`;
    await sql`CREATE DATABASE ${sql(name)} TEMPLATE ${sql(from)}`;
    return urlOf({ ...address, database: name });
  };
  const prepareTemplate = async (): Promise<void> => {
    const usher = await startUsher(scope, temporaryFolder(scope), await fresh(template, 'template0'));
    await usher.stop();
  };
  let prepared: Promise<void> | null = null;
  return {
    empty: async (name) => fresh(name, 'template0'),
    async ofUsher(name) {
      await (prepared ??= prepareTemplate());
      return fresh(name, template);
    },
  };
}

/** One connection to it, for as long as `use` takes. */
export async function withDatabase<T>(url: string, use: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect({ kind: 'url', url }, { max: 1, connection: { statement_timeout: statementTimeoutMs } });
  try {
    return await use(sql);
  } finally {
    await sql.end();
  }
}

/** What was just filled is known to the planner, and none of it is still to be written while others measure. */
export async function settle(url: string): Promise<void> {
  await withDatabase(url, async (sql) => {
    await sql`VACUUM ANALYZE`;
    await sql`CHECKPOINT`;
  });
}
