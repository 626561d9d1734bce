import type { Sql } from '../../packages/server/src/platform/database.ts';

/** The number of rows that `reading` reads in tables with names LIKE `tables`. PostgreSQL counts per connection, so the client must have only one. */
export async function countRowsRead(client: Sql, tables: string, reading: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await client<{ read: number }[]>`
      SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS read
        FROM pg_stat_xact_user_tables WHERE relname LIKE ${tables}`;
    return row?.read ?? 0;
  };
  // After enough runs PostgreSQL uses a cached generic plan, which is the one to measure.
  for (let times = 0; times < 7; times += 1) await reading();
  const earlier = await count();
  await reading();
  return (await count()) - earlier;
}
