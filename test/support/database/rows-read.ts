import { inTransaction, type Sql } from '../../../packages/server/src/platform/database/database.ts';

/**
 * The number of rows that `reading` reads in tables with names LIKE `tables`. PostgreSQL counts for each transaction that is under way;
 * between two transactions it may move the counts elsewhere at any time.
 */
export async function countRowsRead(
  pool: Sql,
  tables: string,
  reading: (sql: Sql) => Promise<unknown>,
): Promise<number> {
  return inTransaction(pool, async (sql) => {
    const count = async (): Promise<number> => {
      const [row] = await sql<{ read: number }[]>`
        SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS read
          FROM pg_stat_xact_user_tables WHERE relname LIKE ${tables}`;
      return row?.read ?? 0;
    };
    // After enough runs PostgreSQL uses a cached generic plan, which is the one to measure.
    for (let times = 0; times < 7; times += 1) await reading(sql);
    const earlier = await count();
    await reading(sql);
    return (await count()) - earlier;
  });
}
