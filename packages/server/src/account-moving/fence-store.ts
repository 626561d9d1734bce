import { setTimeout as sleep } from 'node:timers/promises';
import { quoted } from '../backup/store.ts';
import { isLockTimeout, type PoolSql, type Sql } from '../platform/database/database.ts';
import { StartError } from '../platform/errors.ts';
import type { AccountId } from '../platform/ids.ts';

/**
 * The fence of an account: triggers on every table that refuse each change of its rows, whichever process makes it and whatever that
 * process knew. Creating a trigger waits for the transactions that have written to the table, so once the fence stands, every change
 * that was or will be acknowledged is visible. Rows of other accounts pass: the trigger's condition names the account.
 *
 * Each table is locked on its own and for a moment only: everybody who writes to it waits meanwhile.
 */
const lockTimeoutMs = 50;
const retryMs = 20;
/** A transaction that holds a table for longer than all tries is a forgotten one. */
const maxTries = 300;

/** The column with the account's id: all tables that have one are fenced. */
async function fencedTables(sql: Sql): Promise<readonly { readonly table: string; readonly column: string }[]> {
  return sql<{ table: string; column: string }[]>`
    SELECT c.relname AS table, a.attname AS column
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
       AND a.attname = CASE c.relname WHEN 'accounts' THEN 'id' ELSE 'account_id' END
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY c.relname`;
}

/** The new row is of the account, and the old one: a trigger for each event, because their conditions may name only their own row. */
const events = [
  { event: 'INSERT', row: 'NEW' },
  { event: 'UPDATE', row: 'OLD' },
  { event: 'DELETE', row: 'OLD' },
] as const;

function nameOf(event: string, accountId: AccountId): string {
  return `fence_${event.toLowerCase()}_${accountId}`;
}

export async function raiseFence(pool: PoolSql, accountId: AccountId, signal: AbortSignal): Promise<void> {
  for (const { table, column } of await fencedTables(pool)) {
    const statements = events.map(
      ({ event, row }) =>
        `CREATE OR REPLACE TRIGGER ${quoted(nameOf(event, accountId))} BEFORE ${event} ON ${quoted(table)} FOR EACH ROW
           WHEN (${row}.${quoted(column)} = '${accountId}') EXECUTE FUNCTION refuse_moving(${quoted(column)})`,
    );
    await inShortLock(pool, statements, { table, signal });
  }
}

/** Also removes what is left of a fence that was not finished. */
export async function lowerFence(pool: PoolSql, accountId: AccountId): Promise<void> {
  const present = await pool<{ table: string; name: string }[]>`
    SELECT tgrelid::regclass::text AS table, tgname AS name
      FROM pg_trigger
     WHERE tgname = ANY(${events.map(({ event }) => nameOf(event, accountId))}::text[]) AND tgparentid = 0
     ORDER BY tgrelid`;
  for (const [table, triggers] of Map.groupBy(present, (each) => each.table))
    await inShortLock(
      pool,
      triggers.map(({ name }) => `DROP TRIGGER IF EXISTS ${quoted(name)} ON ${table}`),
      { table, signal: null },
    );
}

async function inShortLock(
  pool: PoolSql,
  statements: readonly string[],
  { table, signal }: { readonly table: string; readonly signal: AbortSignal | null },
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await pool.begin(async (sql) => {
        await sql.unsafe(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
        for (const statement of statements) await sql.unsafe(statement);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (tries === maxTries)
        throw new StartError(
          `A transaction has kept the table ${table} for long. usher doctor names its session: end it, and try again.`,
          { cause: error },
        );
    }
    await sleep(retryMs);
  }
}
