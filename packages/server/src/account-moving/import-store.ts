import type { BackedUpTable } from '../backup/format.ts';
import { quoted } from '../backup/store.ts';
import { everything } from '../platform/database/row-changes.ts';
import type { Sql } from '../platform/database/database.ts';
import type { AccountId } from '../platform/ids.ts';
import { insertCopied } from './changed-columns.ts';

/**
 * Rows are as they were, so no trigger acts on them, and foreign keys need no check: the rows are those of one snapshot. A role that is no
 * superuser needs the right to set it.
 */
export async function suspendTriggers(sql: Sql): Promise<void> {
  await sql.unsafe('SET LOCAL session_replication_role = replica');
}

/** A temporary table for the rows as they are in the file, and the stream that fills it. */
export async function copyAside(sql: Sql, { name, parent, columns }: BackedUpTable, aside: string) {
  const names = columns.map(quoted).join(', ');
  await sql.unsafe(
    `CREATE TEMP TABLE ${quoted(aside)} ON COMMIT DROP AS SELECT ${names} FROM ${quoted(parent ?? name)} WITH NO DATA`,
  );
  return sql.unsafe(`COPY ${quoted(aside)} (${names}) FROM STDIN`).writable();
}

export async function insertFrom(sql: Sql, { name, parent, columns }: BackedUpTable, aside: string): Promise<void> {
  await sql.unsafe(insertCopied(parent ?? name, columns, aside));
  await sql.unsafe(`DROP TABLE ${quoted(aside)}`);
}

/** More events than can be written between two statements. */
const leap = 1_000_000;

/**
 * New events of the account get higher numbers than imported ones. The sequence is used by others meanwhile and must never go back, so it
 * either is past them already or leaps far ahead.
 */
export async function passEventNumbers(sql: Sql, accountId: AccountId): Promise<void> {
  await sql`
    SELECT setval('events_seq_seq', highest + ${leap})
      FROM (SELECT max(seq) AS highest FROM events WHERE account_id = ${accountId}) AS imported, events_seq_seq
     WHERE last_value <= highest`;
}

export async function findImported(sql: Sql, accountId: AccountId): Promise<boolean> {
  const rows = await sql`SELECT FROM accounts WHERE id = ${accountId}`;
  return rows.length > 0;
}

/** No trigger has told anybody: every process forgets what it has read, and looks for what is due. */
export async function announce(sql: Sql): Promise<void> {
  await sql`SELECT pg_notify('usher_changes', ${everything})`;
}
