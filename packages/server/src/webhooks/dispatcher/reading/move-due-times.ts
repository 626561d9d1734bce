import { inTransaction, type Sql } from '../../../platform/database/database.ts';
import { maxDelaysMs } from '../outcomes/retry-schedule.ts';

/** Destinations per transaction. */
const batchSize = 50;
const maxBatches = 1_000;

/**
 * Moves the due times of delayed deliveries after a step of the clock, so that each waits as long as it would have without the
 * step. The row of a destination records which steps its due times include, so each step is applied once, by any process.
 *
 * A delivery that was delayed just after the step, before it was noticed, is moved although it should not be. Therefore no due
 * time is set beyond the longest delay for that number of failures.
 */
export async function moveDueTimes(pool: Sql): Promise<void> {
  for (let batch = 0; batch < maxBatches; batch += 1) if ((await moveBatch(pool)) < batchSize) return;
}

async function moveBatch(pool: Sql): Promise<number> {
  return inTransaction(pool, async (sql) => {
    // The lock keeps others from writing outcomes of these destinations. Other processes skip locked rows.
    const found = await sql<{ id: string; byMs: number }[]>`
      SELECT id, (clock_shift() - clock_shift_ms)::float8 AS "byMs"
        FROM destinations
       WHERE clock_shift_ms <> clock_shift()
       ORDER BY id
       LIMIT ${batchSize}
         FOR NO KEY UPDATE SKIP LOCKED`;
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    // Served by deliveries_due.
    await sql`
      UPDATE deliveries d
         SET due_at = least(d.due_at + f.by_ms * interval '1 millisecond',
                            clock_timestamp() + (${maxDelaysMs}::float8[])[least(d.attempts, ${maxDelaysMs.length - 1}) + 1]
                                                * interval '1 millisecond')
        FROM unnest(${ids}::uuid[], ${found.map(({ byMs }) => byMs)}::float8[]) AS f (id, by_ms)
       WHERE d.destination_id = f.id AND d.due_at IS NOT NULL`;
    await sql`
      UPDATE destinations d
         SET clock_shift_ms = d.clock_shift_ms + f.by_ms::bigint
        FROM unnest(${ids}::uuid[], ${found.map(({ byMs }) => byMs)}::float8[]) AS f (id, by_ms)
       WHERE d.id = f.id`;
    return found.length;
  });
}
