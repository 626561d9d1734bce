import type { Sql } from '../platform/database/database.ts';
import type { AccountId, FileId } from '../platform/ids.ts';

/** Rows that one statement deletes. */
const batchSize = 5_000;

interface OwnTable {
  readonly name: string;
  /** The tables that it references, apart from itself. */
  readonly references: readonly string[];
}

/**
 * The tables with rows of accounts, each before the tables that it references. They are read from the catalogue, so that no later table
 * is forgotten: every row of an account has its `account_id`. Partitions are listed instead of their table, because `ctid` is unique only
 * within a partition.
 */
export async function tablesOfAccounts(sql: Sql): Promise<readonly string[]> {
  const tables = await sql<OwnTable[]>`
    SELECT c.oid::regclass::text AS name,
           ARRAY(SELECT DISTINCT f.confrelid::regclass::text
                   FROM pg_constraint f
                  WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS references
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
     ORDER BY name`;
  const ordered: string[] = [];
  let left: readonly OwnTable[] = tables;
  while (left.length > 0) {
    const referenced = new Set(left.flatMap(({ references }) => references));
    const free = left.filter(({ name }) => !referenced.has(name));
    if (free.length === 0) throw new Error(`tables reference each other: ${left.map(({ name }) => name).join(', ')}`);
    ordered.push(...free.map(({ name }) => name));
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}

/** Returns the number of deleted rows. */
export async function deleteRows(sql: Sql, table: string, accountId: AccountId): Promise<number> {
  let total = 0;
  for (let deleted = batchSize; deleted >= batchSize; total += deleted) {
    const { count } = await sql`
      DELETE FROM ${sql(table)}
       WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${sql(table)} WHERE account_id = ${accountId} LIMIT ${batchSize}))`;
    deleted = count;
  }
  return total;
}

export async function filesOfAccount(sql: Sql, accountId: AccountId): Promise<readonly FileId[]> {
  const rows = await sql<{ id: FileId }[]>`SELECT id FROM files WHERE account_id = ${accountId}`;
  return rows.map(({ id }) => id);
}

/** A queue cannot be deleted while it is the fallback of another. */
export async function detachFallbacks(sql: Sql, accountId: AccountId): Promise<void> {
  await sql`
    UPDATE queues SET fallback_queue_id = NULL WHERE account_id = ${accountId} AND fallback_queue_id IS NOT NULL`;
}

export async function deleteAccountRow(sql: Sql, accountId: AccountId): Promise<void> {
  await sql`DELETE FROM accounts WHERE id = ${accountId}`;
}
