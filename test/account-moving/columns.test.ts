import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHandled } from '../../packages/server/src/account-moving/changed-columns.ts';
import { clusterTables, ownRows } from '../../packages/server/src/account-moving/own-rows.ts';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import { newId, type AccountId } from '../../packages/server/src/platform/ids.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { forThisFile } from '../support/fixture.ts';

const { sql } = await forThisFile(openPool());

async function openPool() {
  const pool = connect(await cloneDatabase(), { max: 1 });
  return { sql: pool, close: async () => pool.end() };
}

/** Tables that only their cluster understands: they are in no backup either. */
const unlogged = new Set(['log_epoch_begun']);

test('each table belongs to the installation, or it is known which rows belong to an account', async () => {
  const tables = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`;
  const accountId = newId<AccountId>();
  for (const { name } of tables) {
    if (clusterTables.has(name) || unlogged.has(name)) continue;
    // PostgreSQL checks the names in the condition.
    await sql.unsafe(`SELECT FROM ${name} WHERE ${ownRows(name, accountId)}`);
  }
});

test('each column whose value is true only in one installation becomes another value', async () => {
  const columns = await sql<{ table: string; column: string }[]>`
    SELECT c.relname AS table, a.attname AS column
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relname <> ALL(${[...clusterTables, ...unlogged]}::text[])
       AND (a.atttypid IN ('xid8'::regtype, 'oid'::regtype) OR a.attidentity <> ''
            OR a.attname IN ('clock_shift_ms', 'clock_outage_ms', 'owner_session', 'moving_at'))
     ORDER BY 1, 2`;
  assert.ok(columns.length > 8);
  assert.deepEqual(
    columns.filter(({ table, column }) => !isHandled(table, column)),
    [],
  );
});
