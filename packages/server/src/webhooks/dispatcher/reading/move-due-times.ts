import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import { readByIndex } from '../../../platform/database/read-by-index.ts';
import { maxDelaysMs } from '../outcomes/retry-schedule.ts';

/** Destinations per transaction. */
const batchSize = 50;
/** Deliveries per transaction, of all its destinations together. */
const maxDeliveries = 1_000;
/** The dispatcher has other work; its next check continues. */
const longestRunMs = 1_000;

interface MovingDestination {
  readonly id: string;
  readonly byMs: number;
}

/**
 * Moves the due times of delayed deliveries after a step of the clock, so that each waits as long as it would have without the
 * step. The row of a destination records which steps its due times include, and how far a move has come, so each step is applied
 * once, by any process. Returns whether all are moved.
 *
 * A delivery that is delayed between the step and the end of the move is moved although it should not be. Therefore no due time is set
 * beyond the longest delay for that number of failures.
 */
export async function moveDueTimes(pool: Sql): Promise<boolean> {
  const end = performance.now() + longestRunMs;
  while (await moveBatch(pool)) if (performance.now() > end) return false;
  return true;
}

/** Returns whether there may be more. */
async function moveBatch(pool: Sql): Promise<boolean> {
  return inTransaction(pool, async (sql) => {
    // The lock keeps others from writing outcomes of these destinations. Other processes skip locked rows.
    const found = await sql<MovingDestination[]>`
      SELECT id, coalesce(moving_by_ms, clock_shift() - clock_shift_ms)::float8 AS "byMs"
        FROM destinations
       WHERE clock_shift_ms <> clock_shift() OR moving_by_ms IS NOT NULL
       ORDER BY id
       LIMIT ${batchSize}
         FOR NO KEY UPDATE SKIP LOCKED`;
    if (found.length === 0) return false;
    await readByIndex(sql);
    const limit = Math.ceil(maxDeliveries / found.length);
    await moveSome(sql, 'later', { limit, destinations: found.filter(({ byMs }) => byMs > 0) });
    await moveSome(sql, 'earlier', { limit, destinations: found.filter(({ byMs }) => byMs <= 0) });
    return true;
  });
}

/**
 * Moves the next deliveries of each destination. Those that become due later are moved from the latest to the earliest, and the others
 * in the opposite order, so that no moved delivery is found again.
 */
async function moveSome(
  sql: Sql,
  direction: 'later' | 'earlier',
  { limit, destinations }: { readonly limit: number; readonly destinations: readonly MovingDestination[] },
): Promise<void> {
  if (destinations.length === 0) return;
  const [isNext, first, order, lastFirst] =
    direction === 'later'
      ? [sql`<`, sql`'infinity'`, sql`DESC`, sql`ASC`]
      : [sql`>`, sql`'-infinity'`, sql`ASC`, sql`DESC`];
  // Deliveries of one event to several webhooks of the destination have the same place in the order.
  await sql`
    WITH moving AS (
           SELECT d.id, m.by_ms, coalesce(d.moved_to, ${first}) AS moved_to, coalesce(d.moved_to_seq, 0) AS moved_to_seq
             FROM unnest(${destinations.map(({ id }) => id)}::uuid[],
                         ${destinations.map(({ byMs }) => byMs)}::bigint[]) AS m (id, by_ms)
             JOIN destinations d ON d.id = m.id),
         batch AS MATERIALIZED (
           -- Served by deliveries_due.
           SELECT next.*, moving.id AS destination_id, moving.by_ms
             FROM moving
            CROSS JOIN LATERAL (
                    SELECT d.id, d.due_at, d.event_seq
                      FROM deliveries d
                     WHERE d.destination_id = moving.id AND d.due_at IS NOT NULL
                       AND (d.due_at, d.event_seq) ${isNext} (moving.moved_to, moving.moved_to_seq)
                     ORDER BY d.due_at ${order}, d.event_seq ${order}
                     FETCH FIRST ${limit} ROWS WITH TIES) AS next),
         moved AS (
           UPDATE deliveries d
              SET due_at = least(d.due_at + batch.by_ms * interval '1 millisecond',
                                 clock_timestamp() + (${maxDelaysMs}::float8[])[least(d.attempts, ${maxDelaysMs.length - 1}) + 1]
                                                     * interval '1 millisecond')
             FROM batch
            WHERE d.id = batch.id AND d.due_at IS NOT NULL),
         last AS (
           SELECT DISTINCT ON (destination_id)
                  destination_id, due_at, event_seq, count(*) OVER (PARTITION BY destination_id) >= ${limit} AS has_more
             FROM batch
            ORDER BY destination_id, due_at ${lastFirst}, event_seq ${lastFirst})
    UPDATE destinations d
       SET clock_shift_ms = CASE WHEN last.has_more THEN d.clock_shift_ms ELSE d.clock_shift_ms + moving.by_ms END,
           moving_by_ms = CASE WHEN last.has_more THEN moving.by_ms END,
           moved_to = CASE WHEN last.has_more THEN last.due_at END,
           moved_to_seq = CASE WHEN last.has_more THEN last.event_seq END
      FROM moving
      LEFT JOIN last ON last.destination_id = moving.id
     WHERE d.id = moving.id`;
}
