import type { Sql } from '../../../../packages/server/src/platform/database/database.ts';

/**
 * What a crash of PostgreSQL leaves behind, when no session is left: unlogged tables are empty, and numbers of events are given again that
 * no committed transaction has used. PostgreSQL gives ids of transactions again, too, which cannot be imitated.
 */
export async function crash(sql: Sql): Promise<void> {
  await sql`DELETE FROM log_epoch_begun`;
  await sql`SELECT setval('events_seq_seq', (SELECT coalesce(max(seq), 1) FROM events))`;
}
