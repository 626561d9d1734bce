import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deleteAccount } from '../../packages/server/src/account-deletion/delete-account.ts';
import {
  keyTables,
  leafTables,
  tablesOfDeliveries,
  tablesOfEngagements,
} from '../../packages/server/src/account-deletion/own-tables.ts';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import { auditLog, deliveryLog, eventLog, makeDays } from '../../packages/server/src/platform/database/daily-logs.ts';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { forThisFile } from '../support/fixture.ts';
import { insertMany, type ManyRows } from '../support/many-rows.ts';

/** No server uses this database, so that only the deletion reads rows. */
const address = await cloneDatabase();
const { sql } = await forThisFile(openPool());

function openPool() {
  const pool = connect(address, { max: 1, connection: { statement_timeout: 0 } });
  return { sql: pool, close: async () => pool.end() };
}

/** More rows than a batch has, and than a page of ids. */
const doomed = { name: 'doomed', id: randomUUID() as AccountId, count: 1_050, few: 3 };
const interrupted = { name: 'interrupted', id: randomUUID() as AccountId, count: 50, few: 3 };
const other = { name: 'other', id: randomUUID() as AccountId, count: 10_000, few: 20 };
type Rows = typeof doomed;

/** These tables are small by nature, and scanned. */
const scanned = new Set(['revoked_tokens', 'deleted_sites', 'webhook_recoveries']);
/** An account has few sites, and one row of sample data. */
const few = new Set([...scanned, 'sites']);

async function tablesWithAccounts(): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    SELECT c.relname AS name
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     ORDER BY 1`;
  return rows.map(({ name }) => name);
}

const idOf = ({ name }: Rows, thing: string, n = 'n'): string => `md5('${name} ${thing} ' || ${n})::uuid`;

/** The tables with rows by whose ids others are found, and the columns that name these ids. */
const owners: Readonly<Record<string, string>> = {
  operators: 'operator_id',
  queues: 'queue_id',
  destinations: 'destination_id',
  webhooks: 'webhook_id',
  engagements: 'engagement_id',
  teams: 'team_id',
  sites: 'site_id',
};

async function columnsOf(table: string): Promise<ReadonlySet<string>> {
  const rows = await sql<{ name: string }[]>`
    SELECT attname AS name FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`;
  return new Set(rows.map(({ name }) => name));
}

/** Values that tell the rows of a table apart: the row n belongs to the operator n, the webhook n and so on. */
async function valuesOf(table: string, rows: Rows): Promise<Record<string, string>> {
  const columns = await columnsOf(table);
  const values: Record<string, string> = { account_id: `'${rows.id}'` };
  for (const column of Object.values(owners)) if (columns.has(column)) values[column] = idOf(rows, column);
  if (columns.has('site_id')) values['site_id'] = idOf(rows, 'site_id', `(n % ${rows.few} + 1)`);
  const own = owners[table];
  if (own !== undefined) values['id'] = idOf(rows, own);
  if (table === 'api_keys') values['id'] = `'${rows.name}' || n`;
  if (table === 'sip_domains') values['domain'] = `'${rows.name}' || n`;
  return values;
}

/** Further values. Several of a table are rows that different indexes find. */
const variants: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  queue_tickets: [{}, { ended_at: 'now()' }],
  presence_intervals: [{}, { ended_at: 'now()', started_at: "now() - interval '1 hour'" }],
  deliveries: [
    { state: "'pending'", id: `md5(account_id || 'delivery' || n)::uuid` },
    { state: "'pending'", due_at: 'now()' },
    { state: "'held'" },
  ],
  delivery_log: [
    { final: 'true' },
    // Attempts of deliveries that still wait, and of finished ones.
    { final: 'false', delivery_id: `md5(account_id || 'delivery' || n)::uuid` },
    { final: 'false', delivery_id: `md5(account_id || 'finished' || n)::uuid` },
    { final: 'true', delivery_id: `md5(account_id || 'finished' || n)::uuid` },
  ],
};

async function manyRows(table: string, rows: Rows): Promise<readonly ManyRows[]> {
  const values = await valuesOf(table, rows);
  const count = table === 'sample_data' ? 1 : few.has(table) ? rows.few : rows.count;
  return (variants[table] ?? [{}]).map((variant) => ({
    table,
    count,
    values: {
      ...values,
      ...Object.fromEntries(
        Object.entries(variant).map(([column, value]) => [column, value.replace('account_id', `'${rows.id}'`)]),
      ),
    },
  }));
}

/** What remains of a deleted site and of a deleted queue. */
function remains(rows: Rows): readonly ManyRows[] {
  const site = { site_id: idOf(rows, 'deleted site', '1'), account_id: `'${rows.id}'` };
  return [
    { table: 'deleted_sites', count: 1, values: { account_id: `'${rows.id}'`, id: site.site_id } },
    { table: 'visitors', count: rows.few, values: site },
    { table: 'engagements', count: rows.few, values: { ...site, id: idOf(rows, 'remaining engagement') } },
    {
      table: 'chat_messages',
      count: rows.few,
      values: { account_id: `'${rows.id}'`, engagement_id: idOf(rows, 'remaining engagement') },
    },
    { table: 'deleted_queues', count: rows.few, values: { ...site, id: idOf(rows, 'deleted queue') } },
    {
      table: 'queue_visits',
      count: rows.few,
      values: { account_id: `'${rows.id}'`, queue_id: idOf(rows, 'deleted queue') },
    },
  ];
}

/** The number of the account's rows of each table, and a hash of them. */
async function contentOf(account: AccountId): Promise<Record<string, string>> {
  const counts: Record<string, string> = {};
  for (const table of await tablesWithAccounts()) {
    const [row] = await sql<{ rows: number; hash: string }[]>`
      SELECT count(*)::integer AS rows, coalesce(sum(hashtext(t::text)), 0)::text AS hash
        FROM ${sql(table)} t WHERE account_id = ${account}`;
    if (row !== undefined && row.rows > 0) counts[table] = `${row.rows} rows, ${row.hash}`;
  }
  return counts;
}

/** The rows read so far, by table. */
async function readByTable(): Promise<ReadonlyMap<string, number>> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const rows = await sql<{ name: string; read: number }[]>`
    SELECT coalesce(pg_partition_root(relid), relid)::regclass::text AS name,
           sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read
      FROM pg_stat_user_tables GROUP BY 1`;
  return new Map(rows.map(({ name, read }) => [name, read]));
}

/** Makes statements fail that delete more rows than a batch has, as if they had taken too long. */
async function refuseLongDeletions(tables: readonly string[]): Promise<void> {
  await sql`
    CREATE FUNCTION refuse_long_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM gone) > 1000 THEN
        RAISE 'a statement deletes % rows of %', (SELECT count(*) FROM gone), TG_TABLE_NAME;
      END IF;
      RETURN NULL;
    END $$`;
  for (const table of tables)
    await sql`
      CREATE TRIGGER refuse_long AFTER DELETE ON ${sql(table)} REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_long_deletion()`;
}

test('every table with rows of accounts is deleted from', async () => {
  const listed = [
    ...[...leafTables, ...keyTables].map(({ table }) => table),
    ...tablesOfEngagements,
    ...tablesOfDeliveries,
  ];
  assert.deepEqual([...new Set(listed)].toSorted(), await tablesWithAccounts());
});

async function addRows(rows: Rows, tables: readonly string[]): Promise<void> {
  await sql`INSERT INTO accounts (id, name, disabled_at) VALUES (${rows.id}, ${rows.name}, now())`;
  await insertMany(address, [
    ...(await Promise.all(tables.map(async (table) => manyRows(table, rows)))).flat(),
    ...remains(rows),
  ]);
  assert.deepEqual(Object.keys(await contentOf(rows.id)).toSorted(), tables);
}

test('accounts are deleted in batches by index beside a large one, and interrupted work continues', async (t) => {
  for (const log of [eventLog, auditLog, deliveryLog]) await makeDays(sql, log);
  const tables = await tablesWithAccounts();
  for (const rows of [other, doomed, interrupted]) await addRows(rows, tables);
  const before = await contentOf(other.id);
  await refuseLongDeletions(tables);
  // Reading a page of ids only reads the index.
  await sql`VACUUM sites, operators, queues, deleted_queues, destinations, webhooks`;

  const dataDir = mkdtempSync(join(tmpdir(), 'usher-account-deletion-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const fileStore = new FileDisk(dataDir, createLog('silent'));
  const run = async ({ id: accountId }: Rows) => deleteAccount({ sql, fileStore, accountId });
  await sql`SELECT set_config('statement_timeout', '5s', false)`;
  const earlier = await readByTable();
  assert.equal((await run(doomed)).files, doomed.count);
  const later = await readByTable();
  const tooMany = tables
    .filter((table) => !few.has(table))
    .map((table) => ({ table, read: (later.get(table) ?? 0) - (earlier.get(table) ?? 0) }))
    .filter(({ table, read }) => read >= other.count * (variants[table]?.length ?? 1));
  assert.deepEqual(tooMany, []);
  await sql`SELECT set_config('statement_timeout', '0', false)`;
  assert.deepEqual(await contentOf(doomed.id), {});

  await sql`CREATE FUNCTION interrupt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'interrupted'; END $$`;
  for (const table of ['visitors', 'deliveries', 'engagements', 'webhooks', 'queues', 'operators', 'board_moves']) {
    await sql`CREATE TRIGGER interrupt BEFORE DELETE ON ${sql(table)} EXECUTE FUNCTION interrupt()`;
    await assert.rejects(run(interrupted), /interrupted/, table);
    await sql`DROP TRIGGER interrupt ON ${sql(table)}`;
  }
  await run(interrupted);
  assert.deepEqual(await contentOf(interrupted.id), {});
  assert.equal((await sql`SELECT FROM accounts`).length, 1);
  assert.deepEqual(await contentOf(other.id), before);
});
