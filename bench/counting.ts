import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../packages/server/src/platform/database.ts';
import { withDatabase } from './databases.ts';
import type { Lab } from './lab.ts';
import { temporaryFolder } from './processes.ts';
import { firstSite, signIn, startUsher, type Session, type Usher } from './usher.ts';

/** A server whose database counts statements. */
export async function startCounting(lab: Lab): Promise<{ usher: Usher; session: Session; siteId: string }> {
  const databases = await lab.startCountingDatabases();
  const usher = await startUsher(lab.scope, temporaryFolder(lab.scope), await databases.ofUsher('counting'));
  const session = await signIn(usher);
  return { usher, session, siteId: await firstSite(session) };
}

interface Counting {
  readonly count: 'engagements' | 'chat_messages';
  /** How long `load` takes. */
  readonly seconds: number;
}

/**
 * Statements for each row that comes into the table while `load` runs. Counted in the middle of it: neither its beginning nor
 * its end is full load.
 */
export async function statementsDuring(
  { databaseUrl }: Usher,
  load: () => Promise<unknown>,
  { count: table, seconds }: Counting,
): Promise<number> {
  return withDatabase(databaseUrl, async (sql) => {
    const count = async (): Promise<{ statements: number; rows: number }> => {
      const statements = await statementsSoFar(sql);
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

/** In this database, by everybody, ours among them. */
export async function statementsSoFar(sql: Sql): Promise<number> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
  const [row] = await sql<{ statements: number }[]>`
    SELECT coalesce(sum(calls), 0)::integer AS statements
      FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  if (row === undefined) throw new Error('a sum is always answered');
  return row.statements;
}

/**
 * The statements of the database that were executed at least so often while `work` ran, by PostgreSQL's number for them:
 * their texts, which have constants in them or not, do not compare.
 */
export async function statementsOften(
  url: string,
  least: number,
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<string, string>> {
  return withDatabase(url, async (sql) => {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
    await sql`SELECT pg_stat_statements_reset()`;
    await work();
    const rows = await sql<{ id: string; query: string }[]>`
      SELECT queryid::text AS id, query
        FROM pg_stat_statements
       WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND calls >= ${least}
       ORDER BY queryid`;
    return new Map(rows.map(({ id, query }) => [id, query]));
  });
}
