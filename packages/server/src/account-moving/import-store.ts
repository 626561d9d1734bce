import type { BackedUpTable, ExportedAccount } from '../backup/format.ts';
import { quoted } from '../backup/store.ts';
import { everything } from '../platform/database/row-changes.ts';
import { connect, type DatabaseAddress, type Sql } from '../platform/database/database.ts';
import { commandPools } from '../platform/database/pools.ts';
import type { AccountId } from '../platform/ids.ts';
import { StartError } from '../platform/errors.ts';
import { insertCopied } from './changed-columns.ts';
import { accountColumn } from './own-rows.ts';

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

/** Inserts the rows, unless one is not the account's: a file may come from somebody who may have this account and nothing else. */
export async function insertFrom(
  sql: Sql,
  { name, parent, columns }: BackedUpTable,
  { aside, accountId }: { readonly aside: string; readonly accountId: AccountId },
): Promise<void> {
  const owner = quoted(accountColumn(parent ?? name));
  const [other] = await sql.unsafe(
    `SELECT FROM ${quoted(aside)} WHERE ${owner} IS DISTINCT FROM '${accountId}'::uuid LIMIT 1`,
  );
  if (other !== undefined)
    throw new StartError(`The file has rows of another account (${name}). Nothing was imported.`);
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

interface ImportedAccount {
  /** It was not moved yet: only its history is here. */
  readonly isHistory: boolean;
  readonly boundary: number | null;
  readonly shiftMs: number;
}

export async function findImported(sql: Sql, id: AccountId): Promise<ImportedAccount | null> {
  const [row] = await sql<ImportedAccount[]>`
    SELECT moving_at IS NOT NULL AND disabled_at IS NOT NULL AS "isHistory",
           extract(epoch FROM moving_at)::float8 * 1000 AS boundary, clock_shift_ms::float8 AS "shiftMs"
      FROM accounts WHERE id = ${id}`;
  return row ?? null;
}

/** Until the account is moved, a disabled one stands for it: usher accounts list shows it, and usher accounts delete deletes the history. */
export async function insertHistoryAccount(
  sql: Sql,
  { id, name, boundary, shiftMs }: Pick<ExportedAccount, 'id' | 'name' | 'boundary' | 'shiftMs'>,
): Promise<void> {
  await sql`
    INSERT INTO accounts (id, name, disabled_at, moving_at, clock_shift_ms)
    VALUES (${id}, ${name}, now(), to_timestamp(${boundary}::float8 / 1000), ${shiftMs})`;
}

/**
 * Deletes the history of an account that was not moved, if only its history is here. Its messages are found by reading the whole table, because
 * the conversations that they belong to never came.
 */
export async function discardHistory(address: DatabaseAddress, id: AccountId): Promise<void> {
  const pool = connect(address, commandPools.backup);
  try {
    const [own] = await pool`SELECT FROM sites WHERE account_id = ${id}`;
    if (own !== undefined) return;
    await pool`DELETE FROM chat_messages WHERE account_id = ${id}`;
    await pool`DELETE FROM delivery_log WHERE account_id = ${id}`;
  } finally {
    await pool.end({ timeout: 0 });
  }
}

export async function deleteHistoryAccount(sql: Sql, id: AccountId): Promise<void> {
  await sql`DELETE FROM accounts WHERE id = ${id}`;
}

/** The move counts as an outage up to its last moment, so that no lease, offer or grace period ends because of it. */
export async function countAsOutage(sql: Sql, { id, takenAt }: ExportedAccount): Promise<void> {
  await sql`
    UPDATE accounts
       SET clock_outage_ms = clock_outage_ms
                             - greatest(0, extract(epoch FROM clock_timestamp()) * 1000 - ${takenAt}::float8)::bigint
     WHERE id = ${id}`;
}

/** No trigger has notified anybody: every process forgets what it has read, and looks for what is due. */
export async function announce(sql: Sql): Promise<void> {
  await sql`SELECT pg_notify('usher_changes', ${everything})`;
}
