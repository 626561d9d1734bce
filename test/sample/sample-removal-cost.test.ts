import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { forThisFile } from '../support/fixture.ts';
import { insertMany, type ManyRows } from '../support/many-rows.ts';
import { countRows, pace, patienceMs, removeSampleData, startSampleData } from '../support/people/sample-data.ts';
import { startTestServer, until } from '../support/server.ts';

const server = await forThisFile(startTestServer({}, undefined, pace));
const { address, sql } = server.database;

const others = 30_000;
/** The tables that grow with use, and the removal looks in. */
const tables: readonly ManyRows[] = [
  { table: 'visitors', count: others },
  { table: 'events', count: others },
  { table: 'engagements', count: others },
  { table: 'sub_engagements', count: others },
  { table: 'chat_messages', count: others },
  {
    table: 'engagement_requests',
    count: others,
    values: { state: "'failed'", created_at: "now() - interval '9 days'" },
  },
  { table: 'queue_tickets', count: others, values: { ended_at: 'now()' } },
  { table: 'deliveries', count: others, values: { state: "'held'" } },
  { table: 'delivery_log', count: others, values: { final: 'true' } },
];

/** The rows read so far, by table. */
async function readByTable(): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ name: string; read: number }[]>`
    SELECT coalesce(pg_partition_root(relid), relid)::regclass::text AS name,
           sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read
      FROM pg_stat_user_tables GROUP BY 1`;
  return new Map(rows.map(({ name, read }) => [name, read]));
}

test('removing sample data reads few rows of other accounts, and keeps all of them', async () => {
  const { who, site } = await startSampleData(server);
  await until(async () => (await countRows(server, 'events', site, `type = 'engagement.end'`)) > 0, patienceMs);
  const account_id = `'${randomUUID()}'`;
  await insertMany(
    address,
    tables.map((rows) => ({ ...rows, values: { account_id, ...rows.values } })),
  );
  // Connections report what they have read when they are idle for a second.
  const stats = async (): Promise<ReadonlyMap<string, number>> => {
    await sql`SELECT pg_sleep(1.5)`;
    return readByTable();
  };
  const before = await stats();
  await removeSampleData(server, who);
  const after = await stats();
  for (const { table } of tables) {
    const read = (after.get(table) ?? 0) - (before.get(table) ?? 0);
    assert.ok(read < others, `${read} rows of ${table} were read`);
    const [row] = await sql<{ rows: number }[]>`
      SELECT count(*)::integer AS rows FROM ${sql(table)} WHERE account_id = ${sql.unsafe(account_id)}`;
    assert.equal(row?.rows, others, table);
  }
});
