import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { withDatabase } from './databases.ts';
import type { Lab } from './lab.ts';
import { temporaryFolder } from './processes.ts';
import { firstSite, signIn, startUsher, type Session, type Usher } from './usher.ts';

/** Starts a server whose database counts statements with pg_stat_statements. */
export async function startCountingUsher(lab: Lab): Promise<{ usher: Usher; session: Session; siteId: string }> {
  const databases = await lab.startCountingDatabases();
  const usher = await startUsher(lab.scope, temporaryFolder(lab.scope), await databases.createForUsher('counting'));
  const session = await signIn(usher);
  return { usher, session, siteId: await firstSite(session) };
}

interface CountOptions {
  readonly count: 'engagements' | 'chat_messages';
  /** How long `load` takes. */
  readonly seconds: number;
}

/**
 * Statements for each row that `load` inserts into the table. They are counted in the middle half of the run, because its
 * beginning and end are not under full load.
 */
export async function statementsPerRow(
  { databaseUrl }: Usher,
  load: () => Promise<unknown>,
  { count: table, seconds }: CountOptions,
): Promise<number> {
  return withDatabase(databaseUrl, async (sql) => {
    const count = async (): Promise<{ statements: number; rows: number }> => {
      const statements = await countStatements(sql);
      const [row] = await sql<{ rows: number }[]>`SELECT count(*)::integer AS rows FROM ${sql(table)}`;
      return { statements, rows: row?.rows ?? Number.NaN };
    };
    await count();
    const running = load();
    await sleep(seconds * 250);
    const before = await count();
    await sleep(seconds * 500);
    const after = await count();
    await running;
    return (after.statements - before.statements) / (after.rows - before.rows);
  });
}

/** All statements that were executed in this database so far, including those of the benchmark. */
export async function countStatements(sql: Sql): Promise<number> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
  const [row] = await sql<{ statements: number }[]>`
    SELECT coalesce(sum(calls), 0)::integer AS statements
      FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  if (row === undefined) throw new Error('an aggregate returned no row');
  return row.statements;
}

/**
 * The statements that were executed at least `minCalls` times while `work` ran, by their `queryid`. Hints to other processes are left
 * out: one is sent after each create if creates are slow, and for several at once if they are fast. So are BEGIN and COMMIT, of which a
 * prepared one is counted once only. The texts of statements cannot be compared, because some contain constants and others parameters.
 */
export async function frequentStatements(
  url: string,
  minCalls: number,
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  return withDatabase(url, async (sql) => {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
    await sql`SELECT pg_stat_statements_reset()`;
    await work();
    const rows = await sql<{ id: string; query: string }[]>`
      SELECT queryid::text AS id, query
        FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls >= ${minCalls}
         AND query NOT LIKE '%pg_notify%' AND query NOT IN ('begin', 'begin ', 'commit')
       ORDER BY queryid`;
    return new Map(rows.map(({ id, query }) => [id, query]));
  });
}
