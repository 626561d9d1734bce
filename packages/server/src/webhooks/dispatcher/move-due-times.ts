import { inTransaction, type Sql } from '../../platform/database.ts';
import { longestDelaysMs } from './retry-schedule.ts';

/** Destinations that one transaction sees to. */
const inBatch = 50;
const mostBatches = 1_000;

/**
 * After a step of the clock: moves the due times of delayed deliveries along, so that each waits as long as it would have.
 * A destination's row says which steps its due times include, so each step is applied once, whichever process does it.
 *
 * What was delayed just after the step, before anybody had noticed it, is moved too although it should not be. So none is
 * left further ahead than the longest delay after as many failures.
 */
export async function moveDueTimes(pool: Sql): Promise<void> {
  for (let batch = 0; batch < mostBatches; batch += 1) if ((await moveBatch(pool)) < inBatch) return;
}

async function moveBatch(pool: Sql): Promise<number> {
  return inTransaction(pool, async (sql) => {
    // Nobody writes outcomes of a destination meanwhile: that takes its row too. Others take the next ones.
    const found = await sql<{ id: string; byMs: number }[]>`
      SELECT id, (clock_shift() - clock_shift_ms)::float8 AS "byMs"
        FROM destinations
       WHERE clock_shift_ms <> clock_shift()
       ORDER BY id
       LIMIT ${inBatch}
         FOR NO KEY UPDATE SKIP LOCKED`;
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    // Served by deliveries_due.
    await sql`
      UPDATE deliveries d
         SET due_at = least(d.due_at + f.by_ms * interval '1 millisecond',
                            clock_timestamp() + (${longestDelaysMs}::float8[])[least(d.attempts, ${longestDelaysMs.length - 1}) + 1]
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
