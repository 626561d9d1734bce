import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pools } from '../../packages/server/src/platform/database/pools.ts';
import { openWorld } from '../support/fixture.ts';

const { server, account: own } = await openWorld();

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

test('a change of state costs an operator the same, however many intervals there are', async (t) => {
  const sql = server.database.connect({ ...pools.turns, max: 1 });
  t.after(async () => sql.end());
  const changed = 50;
  // The planner has no statistics of the table, as while a new service grows.
  await sql`ALTER TABLE presence_intervals SET (autovacuum_enabled = off)`;
  /** Blocks that are read for each of the 50 operators whose state changes. */
  const blocksWith = async (others: number, intervals: number): Promise<number> => {
    await sql`
      INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, enabled, available, presence_set_at)
      SELECT gen_random_uuid(), account_id, name, gen_random_uuid() || '@made', role, max_engagement_count, true, true, now()
        FROM operators, generate_series(1, ${changed + others})
       WHERE id = ${own.adminId}`;
    await sql`
      INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
      SELECT account_id, id, false, true, media, '{}', '{}', now() - n * interval '1 hour',
             CASE WHEN n > 1 THEN now() - n * interval '1 hour' + interval '1 minute' END
        FROM (SELECT * FROM operators WHERE email LIKE '%@made' AND NOT EXISTS (
                SELECT 1 FROM presence_intervals i WHERE i.operator_id = operators.id)) AS made,
             generate_series(1, ${intervals}) AS n
       ORDER BY n DESC, id`;
    const states = await sql<{ operator_id: string }[]>`
      SELECT id AS operator_id FROM operators WHERE email LIKE '%@made' ORDER BY created_at DESC, id LIMIT ${changed}`;
    const input = JSON.stringify(states.map((state) => ({ ...state, engaged: true })));
    // The first call prepares statements and reads the catalogue.
    let blocks = 0;
    for (let n = 0; n < 2; n += 1) {
      await sql
        .begin(async (own) => {
          const [row] = await own<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>`
            EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT keep_presence(date_trunc('milliseconds', now()), ${input}::text::json)`;
          const plan = row?.['QUERY PLAN'][0].Plan;
          blocks = (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? Number.NaN);
          const [written] = await own<{ count: number }[]>`
            SELECT count(*)::integer FROM presence_intervals WHERE started_at = date_trunc('milliseconds', now()) AND engaged`;
          assert.equal(written?.count, changed);
          throw new Error('roll back');
        })
        .catch((error: unknown) => assert.match(String(error), /roll back/));
    }
    return blocks / changed;
  };
  const few = await blocksWith(0, 2);
  const many = await blocksWith(300, 150);
  assert.ok(many < few * 2, `${few} blocks with few intervals, ${many} with many`);
});
