import { randomUUID } from 'node:crypto';
import postgres from 'postgres';

/**
 * The peer of the authenticated create: the statement of `insertTeam` (identity/teams/store.ts) through postgres.js, with
 * nothing around it. Told where the database is, it inserts once and says by which statement; asked again, it inserts for
 * so many seconds and says how many a second.
 */
export interface BareDatabase {
  readonly socketDirectory: string;
  readonly user: string;
  readonly database: string;
  readonly poolSize: number;
  readonly siteId: string;
  readonly name: string;
}

export interface BareInserts {
  readonly concurrency: number;
  readonly seconds: number;
}

/** The statement each side sent; the caller checks that it is the same one. */
export interface BareStatements {
  /** The one PostgreSQL last saw of Usher; empty if it saw none. */
  readonly usher: string;
  readonly bare: string;
}

process.once('message', (where) => void open(where as BareDatabase));
process.once('disconnect', () => process.exit());

async function open({ socketDirectory, user, database, poolSize, siteId, name }: BareDatabase): Promise<void> {
  const sql = postgres({ host: socketDirectory, user, database, max: poolSize });
  const [site] = await sql<{ account_id: string }[]>`SELECT account_id FROM sites WHERE id = ${siteId}`;
  if (site === undefined) throw new Error('the site is not there');
  const insert = async () => sql`
    INSERT INTO teams (id, account_id, site_id, name, description)
    VALUES (${randomUUID()}, ${site.account_id}, ${siteId}, ${name}, ${null})
    RETURNING id, account_id, site_id, name, description, version, created_at, updated_at`;

  process.on('message', (inserts) => void insertFor(inserts as BareInserts, insert));
  const { statement } = await insert();
  const answer: BareStatements = { usher: await lastInsertOfUsher(sql), bare: statement.string };
  process.send?.(answer);
}

async function lastInsertOfUsher(sql: postgres.Sql): Promise<string> {
  const [row] = await sql<{ query: string }[]>`
    SELECT query
      FROM pg_stat_activity
     WHERE application_name LIKE 'usher %' AND query LIKE '%INSERT INTO teams%'
     LIMIT 1`;
  return row?.query ?? '';
}

async function insertFor({ concurrency, seconds }: BareInserts, insert: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  let inserted = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      await insert();
      inserted += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  process.send?.((inserted / (performance.now() - began)) * 1000);
}
