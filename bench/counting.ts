import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Sql } from '../packages/server/src/platform/database.ts';
import { firstSite, socketOf } from './api.ts';
import { temporaryFolder } from './processes.ts';
import { signIn, startUsher, type Session, type Usher } from './usher.ts';

/** A server whose database counts statements. */
export async function startCounting(
  scope: AsyncDisposableStack,
): Promise<{ usher: Usher; session: Session; siteId: string }> {
  const folder = temporaryFolder(scope);
  const first = await startUsher(scope, folder);
  await first.stop();
  appendFileSync(
    join(first.dataDir, 'postgres', 'postgresql.conf'),
    "shared_preload_libraries = 'pg_stat_statements'\n",
  );
  const usher = await startUsher(scope, folder);
  const session = await signIn(usher);
  return { usher, session, siteId: await firstSite(session) };
}

/**
 * Statements for each row that comes into the table while `load` runs. Counted in the middle of it: neither its beginning nor
 * its end is full load.
 */
export async function statementsDuring(
  usher: Usher,
  load: () => Promise<unknown>,
  { count: table, seconds }: { readonly count: 'engagements' | 'chat_messages'; readonly seconds: number },
): Promise<number> {
  const { socketDirectory: directory, user, database } = socketOf(usher);
  const sql = connect({ kind: 'socket', directory, user, database }, { max: 1 });
  try {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`;
    const count = async (): Promise<{ statements: number; rows: number }> => {
      const [row] = await sql<{ statements: number; rows: number }[]>`
        SELECT (SELECT coalesce(sum(calls), 0)::integer FROM pg_stat_statements) AS statements,
               (SELECT count(*)::integer FROM ${sql(table)}) AS rows`;
      if (row === undefined) throw new Error('a count is always answered');
      return row;
    };
    const running = load();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const before = await count();
    await new Promise((resolve) => setTimeout(resolve, (seconds - 2) * 1_000));
    const after = await count();
    await running;
    return (after.statements - before.statements) / (after.rows - before.rows);
  } finally {
    await sql.end();
  }
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
