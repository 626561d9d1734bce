import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FileDisk } from '../../packages/server/src/engagements/files/disk.ts';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { removeRemains } from '../../packages/server/src/site-deletion/remove-remains.ts';
import { openWorld } from '../support/fixture.ts';
import { countRowsRead } from '../support/database/rows-read.ts';
import { call } from '../support/server.ts';
import { expectStatus, makeOperator, makeSite } from '../support/world.ts';

const { server, account } = await openWorld();
const { sql } = server.database;
const [row] = await sql<{ id: string }[]>`SELECT account_id AS id FROM sites WHERE id = ${account.siteId}`;
const accountId = row?.id ?? '';

interface History {
  readonly siteId: string;
  readonly operatorId: string;
  /** Rows per table. */
  readonly count: number;
}

/** Inserts past conversations, visits, SMS, authentications and presence of a site, without reading any row. */
async function insertHistory(writing: Sql, { siteId, operatorId, count }: History): Promise<void> {
  const at = writing`now() - make_interval(secs => number)`;
  await writing`
    CREATE TEMP TABLE made ON COMMIT DROP AS
    SELECT number, gen_random_uuid() AS id FROM generate_series(1, ${count}) AS number`;
  await writing`
    INSERT INTO visitors (id, account_id, site_id) SELECT id, ${accountId}, ${siteId} FROM made`;
  await writing`
    INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, state, timeout_ms, notes, created_at, updated_at)
    SELECT id, ${accountId}, ${siteId}, 'ticket', 'visitor', id, ${operatorId}, 'text', 'accepted', 30000, '{}', ${at}, now() FROM made`;
  await writing`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media, request_id,
                             end_reason, started_at, ended_at, updated_at)
    SELECT id, ${accountId}, ${siteId}, ${siteId}, id, ${operatorId}, id, ${at}, 'text', id, 'visitor_hung_up', ${at}, now(), now() FROM made`;
  await writing`
    INSERT INTO sub_engagements (id, account_id, engagement_id, operator_id, site_id, started_at, ended_at)
    SELECT id, ${accountId}, id, ${operatorId}, ${siteId}, ${at}, now() FROM made`;
  await writing`
    INSERT INTO chat_messages (account_id, engagement_id, sub_engagement_id, id, sender_type, target, type, content, status, created_at)
    SELECT ${accountId}, id, id, id, 'visitor', 'operator', 'text', 'Hi', 'delivered', ${at} FROM made`;
  await writing`
    INSERT INTO media_upgrade_requests (id, account_id, engagement_id, sub_engagement_id, audio, target, state, created_at, updated_at)
    SELECT id, ${accountId}, id, id, 'two_way', 'visitor', 'declined', ${at}, now() FROM made`;
  await writing`
    INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, refusals, queue_ids, entered_at, notes,
                               enqueued_at, ended_at, updated_at)
    SELECT id, ${accountId}, ${siteId}, id, number, 'visitor', 'text', 'engaged', '', '{}', '{}', '{}', '{}', '{}', ${at}, now(), now() FROM made`;
  const queues = Array.from({ length: 10 }, () => crypto.randomUUID());
  await writing`INSERT INTO deleted_queues (id, account_id, site_id) SELECT unnest(${queues}::uuid[]), ${accountId}, ${siteId}`;
  await writing`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome)
    SELECT ${accountId}, (${queues}::uuid[])[1 + number % 10], id, ${at}, ${at}, now(), 'engaged' FROM made`;
  await writing`
    INSERT INTO sms_threads (request_id, account_id, site_id, visitor_id, operator_id, from_number, to_number)
    SELECT id, ${accountId}, ${siteId}, id, ${operatorId}, '+1', '+' || number FROM made`;
  await writing`
    INSERT INTO sms_messages (id, account_id, site_id, request_id, direction, from_number, to_number, body, state)
    SELECT id, ${accountId}, ${siteId}, id, 'outbound', '+1', '+' || number, 'Hello?', 'delivered' FROM made`;
  await writing`
    INSERT INTO visitor_authentication_requests (id, account_id, site_id, visitor_id, provider_id, state)
    SELECT id, ${accountId}, ${siteId}, id, id, 'succeeded' FROM made`;
  await writing`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
    SELECT ${accountId}, ${operatorId}, false, true, '{text}', ARRAY[${siteId}::uuid], '{NULL}', ${at}, now() FROM made`;
  await writing`DROP TABLE made`;
}

test('removing what remains of a site reads rows of that site only', async () => {
  const others = 10_000;
  const otherSites = 50;
  const remains = 20;
  const site = await makeSite(server, account, 'Gone');
  const { id: operatorId } = await makeOperator(server, account, [{ site_id: site, role: 'operator' }]);
  // Presence of an operator of another account: that of the account's own operators is read by operator.
  for (let number = 0; number < otherSites; number += 1)
    await sql.begin(async (writing) =>
      insertHistory(writing, {
        siteId: crypto.randomUUID(),
        operatorId: crypto.randomUUID(),
        count: others / otherSites,
      }),
    );
  await sql`ANALYZE`;
  const remove = { token: account.admin };
  expectStatus(await call(server, `DELETE /sites/${site}?confirm=Gone`, remove), 204);
  const disk = new FileDisk(server.dataDir, createLog('silent'));
  const read = await countRowsRead(sql, '%', async (own) => {
    await own`UPDATE deleted_sites SET forgotten_up_to = NULL`;
    await insertHistory(own, { siteId: site, operatorId, count: remains });
    await removeRemains(own, disk, () => true);
    assert.equal((await own`SELECT FROM visitors WHERE site_id = ${site} LIMIT 1`).length, 0);
  });
  // Each table is read about twice: to find the rows and to delete them.
  assert.ok(read > remains, `${read} rows`);
  assert.ok(read < 1_000, `${read} rows, of ${others} in each table`);
});
