import type { Sql } from './database.ts';

/**
 * Makes the transaction that reads a log use the index and its order. With outdated statistics of a growing partition, the
 * planner would otherwise scan the whole day for one page. The custom plan prunes the partitions by the actual parameters.
 */
export async function readByIndex(sql: Sql): Promise<void> {
  await sql`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
           set_config('enable_sort', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
}
