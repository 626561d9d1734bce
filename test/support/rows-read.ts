import type { Sql } from '../../packages/server/src/platform/database.ts';

/** Rows that a reading looks at, of the tables whose names are LIKE this. The client has one connection: it counts for itself. */
export async function rowsRead(client: Sql, tables: string, reading: () => Promise<unknown>): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await client<{ read: number }[]>`
      SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS read
        FROM pg_stat_xact_user_tables WHERE relname LIKE ${tables}`;
    return row?.read ?? 0;
  };
  // Often enough for a plan to be kept: that one counts.
  for (let times = 0; times < 7; times += 1) await reading();
  const earlier = await count();
  await reading();
  return (await count()) - earlier;
}
