import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction, type SqlFragment, type Sql } from './database.ts';
import { readByIndex } from './read-by-index.ts';

/** Rows that one statement of background work changes: few enough to end long before `statement_timeout`, also on a busy machine. */
export const batchSize = 1_000;

/** A pause is as long as the batch before it, up to this time. */
const longestPauseMs = 1_000;

/** Asked before each batch: `false` ends the work for now, and the next run continues it. */
export type ShouldContinue = () => boolean | Promise<boolean>;

/**
 * The loop of all background work on many rows. `batch` is one statement or one transaction, which commits on its own, so that interrupted
 * work is not lost. It returns whether there may be more rows. Between batches the loop pauses for as long as the last one took: background
 * work uses at most half of what one connection can do. Returns `false` if the work was interrupted.
 */
export async function inBatches(batch: () => Promise<boolean>, shouldContinue: ShouldContinue): Promise<boolean> {
  for (;;) {
    if (!(await shouldContinue())) return false;
    const began = performance.now();
    if (!(await batch())) return true;
    await sleep(Math.min(performance.now() - began, longestPauseMs));
  }
}

interface OldRows {
  readonly table: string;
  /** The column with the time of a row. It has an index. */
  readonly column: string;
  /** Rows are old if their time is before this instant. */
  readonly before: (sql: Sql) => SqlFragment;
  /** Further conditions, which begin with AND. */
  readonly and?: (sql: Sql) => SqlFragment;
}

/**
 * Deletes old rows, the oldest first. Any number of processes may do so at the same time: each skips the rows that another is deleting or
 * changing. Each batch begins where the one before has ended, because PostgreSQL may keep deleted rows in the index for long, and would
 * pass all of them again.
 */
export async function deleteOld(pool: Sql, rows: OldRows, shouldContinue: ShouldContinue): Promise<boolean> {
  const { table, column, before, and } = rows;
  let from = new Date(0);
  return inBatches(async () => {
    const batch = await inTransaction(pool, async (sql) => {
      await readByIndex(sql);
      const [row] = await sql<{ found: number; last: Date | null }[]>`
        WITH batch AS MATERIALIZED (
               SELECT ctid AS row, ${sql(column)} AS at
                 FROM ${sql(table)}
                WHERE ${sql(column)} < ${before(sql)} AND ${sql(column)} >= ${from} ${and?.(sql) ?? sql``}
                ORDER BY ${sql(column)}
                LIMIT ${batchSize}
                  FOR UPDATE SKIP LOCKED),
             deleted AS (
               DELETE FROM ${sql(table)} WHERE ctid = ANY(ARRAY(SELECT row FROM batch)))
        SELECT count(*)::integer AS found, max(at) AS last FROM batch`;
      return row;
    });
    from = batch?.last ?? from;
    return batch?.found === batchSize;
  }, shouldContinue);
}

/** For a transaction that changes a batch: with outdated statistics, the planner would scan whole tables for it. */
export async function preferIndexes(sql: Sql): Promise<void> {
  await sql`
    SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_custom_plan', true)`;
}

/** One transaction whose statements use indexes. */
export async function byIndex<T>(pool: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (sql) => {
    await preferIndexes(sql);
    return work(sql);
  });
}

interface MatchingRows {
  /** A table without partitions, or one partition: `ctid` is unique only within it. */
  readonly table: string;
  /** An index finds the rows with this condition. */
  readonly where: (sql: Sql) => SqlFragment;
  /** Rows of one batch, if triggers need much time for each row. */
  readonly limit?: number;
}

/**
 * Deletes the rows with a condition. Waits for rows that another transaction has locked: afterwards none is left, so what they belong to
 * can be deleted. `onDeleted` is called with the number of rows of each batch.
 */
export async function deleteMatching(
  pool: Sql,
  { table, where, limit = batchSize }: MatchingRows,
  shouldContinue: ShouldContinue,
  onDeleted: (rows: number) => void = () => undefined,
): Promise<boolean> {
  return inBatches(async () => {
    const { count } = await byIndex(
      pool,
      async (sql) => sql`
        DELETE FROM ${sql(table)}
         WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${sql(table)} WHERE ${where(sql)} LIMIT ${limit} FOR UPDATE))`,
    );
    onDeleted(count);
    return count > 0;
  }, shouldContinue);
}
