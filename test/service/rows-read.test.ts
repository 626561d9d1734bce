import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../packages/server/src/platform/database/database.ts';
import { cloneDatabase } from '../support/database/database.ts';
import { countRowsRead } from '../support/database/rows-read.ts';

test('rows read are counted, also if PostgreSQL reports its own counts at that moment', async () => {
  const pool = connect(await cloneDatabase(), { max: 1 });
  try {
    await pool`CREATE TABLE numbers AS SELECT generate_series(1, 1000)`;
    const read = await countRowsRead(pool, 'numbers', async (sql) => {
      await sql`SELECT count(*) FROM numbers`;
      await sql`SELECT pg_stat_force_next_flush()`;
    });
    assert.equal(read, 1_000);
  } finally {
    await pool.end();
  }
});
