import type { Sql } from './database.ts';

/**
 * For the transaction that reads a log: by the index, and in its order, whatever the planner thinks of a partition that
 * has grown since it was last told about it (with the plan it takes then, a page costs all of the day). And always for the
 * partitions that are meant.
 */
export async function readByIndex(sql: Sql): Promise<void> {
  await sql`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_sort', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
}
