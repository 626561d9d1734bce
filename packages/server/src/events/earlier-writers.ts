import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../platform/database/database.ts';

const firstPauseMs = 2;
const longestPauseMs = 50;
/** No transaction that appends events lasts longer (`inTransaction`). Those that hold the lock for longer do something else. */
const longestWaitMs = 20_000;

/**
 * Waits for the transactions that are appending events. Every event that commits afterwards is sent to the webhooks that were committed
 * before the call (D8.12): a statement that appends events finds webhooks in its snapshot, which PostgreSQL takes after it has locked the
 * tables of the statement. So a transaction that may not see what was committed before this call holds its lock on `events` by now, and
 * keeps it until it ends. A writer that still waits for its engagement holds no such lock, so nobody waits for it.
 */
export async function awaitEarlierWriters(sql: Sql): Promise<void> {
  const deadline = performance.now() + longestWaitMs;
  const earlier = await writers(sql);
  let remaining = earlier;
  for (let pauseMs = firstPauseMs; remaining.size > 0 && performance.now() < deadline; pauseMs *= 2) {
    await sleep(Math.min(pauseMs, longestPauseMs));
    remaining = earlier.intersection(await writers(sql));
  }
}

/** The transactions that have locked the log for writing, by their virtual ids, which are never used again. */
async function writers(sql: Sql): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT DISTINCT virtualtransaction AS id
      FROM pg_locks
     WHERE locktype = 'relation' AND relation = 'events'::regclass AND mode = 'RowExclusiveLock' AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return new Set(rows.map(({ id }) => id));
}
