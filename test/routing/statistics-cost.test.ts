import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../packages/server/src/platform/database/database.ts';
import type { AccountId } from '../../packages/server/src/platform/ids.ts';
import type { StatisticsQuery } from '../../packages/server/src/routing/statistics/query.ts';
import {
  engagementDurations,
  onlineDurations,
  queueWaits,
} from '../../packages/server/src/routing/statistics/store.ts';
import { openWorld } from '../support/fixture.ts';
import { countRowsRead } from '../support/database/rows-read.ts';
import { call } from '../support/server.ts';
import { expectStatus, makeQueue } from '../support/world.ts';

/** `npm run prove` runs the long form. */
const isLong = process.env['PROVE'] !== undefined;
/** The number of sub-engagements, of visits and of presence intervals, spread evenly over a year and 100 operators. */
const count = isLong ? 1_000_000 : 20_000;
const operators = 100;
const from = '2025-01-01T00:00:00Z';
const to = '2026-01-01T00:00:00Z';

const { server, account: own } = await openWorld();
const queue = await makeQueue(server, own);
const { sql } = server.database;
const [row] = await sql<{ id: AccountId }[]>`SELECT account_id AS id FROM operators WHERE id = ${own.adminId}`;
assert.ok(row !== undefined);
const accountId = row.id;
// These statements may take longer than those of a request.
const untimed = server.database.connect({ max: 1, connection: { statement_timeout: 0 } });
await untimed.begin(async (writing) => write(writing, queue));
await untimed.end();

async function write(sql: Sql, queue: string): Promise<void> {
  const step = `${(365 * 86_400) / count} seconds`;
  await sql`
    CREATE TEMP TABLE made ON COMMIT DROP AS
    SELECT number, gen_random_uuid() AS id, gen_random_uuid() AS request_id,
           ${from}::timestamptz + number * ${step}::interval AS at
      FROM generate_series(0, ${count - 1}) AS number`;
  await sql`
    CREATE TEMP TABLE staff ON COMMIT DROP AS
    SELECT number, gen_random_uuid() AS id FROM generate_series(0, ${operators - 1}) AS number`;
  await sql`
    INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, enabled)
    SELECT id, ${accountId}, 'Operator ' || number, number || '@made', 'operator', 1, true FROM staff`;
  await sql`
    INSERT INTO engagement_requests (id, account_id, site_id, kind, origin, visitor_id, operator_id, media, state, timeout_ms, notes, created_at, updated_at)
    SELECT request_id, ${accountId}, ${own.siteId}, 'ticket', 'visitor', request_id, request_id, 'text', 'accepted', 30000, '{}', at, at FROM made`;
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media, request_id,
                             queue_id, end_reason, started_at, ended_at, updated_at, highest_media, operator_team_ids)
    SELECT made.id, ${accountId}, ${own.siteId}, ${own.siteId}, made.request_id, staff.id, made.id, at, 'text', request_id, ${queue},
           'visitor_hung_up', at, at + interval '300 seconds', at, 'text', '{}'
      FROM made JOIN staff ON staff.number = made.number % ${operators}`;
  await sql`
    INSERT INTO queue_tickets (id, account_id, site_id, visitor_id, seq, kind, media, state, criteria, narrowed_to, refusals, queue_ids, entered_at, notes,
                               enqueued_at, ended_at, updated_at)
    SELECT id, ${accountId}, ${own.siteId}, id, number, 'visitor', 'text', 'engaged', '', '{}', '{}', '{}', '{}', '{}', at, at, at FROM made`;
  await sql`
    INSERT INTO queue_visits (account_id, queue_id, ticket_id, enqueued_at, entered_at, left_at, outcome)
    SELECT ${accountId}, ${queue}, id, at, at, at + interval '20 seconds', CASE number % 5 WHEN 0 THEN 'canceled' ELSE 'engaged' END FROM made`;
  await sql`
    INSERT INTO presence_intervals (account_id, operator_id, engaged, available, media, site_ids, team_ids, started_at, ended_at)
    SELECT ${accountId}, staff.id, made.number / ${operators} % 2 = 0, true, '{text}', ${[own.siteId]}::uuid[], '{NULL}'::uuid[], at,
           at + ${operators} * ${step}::interval
      FROM made JOIN staff ON staff.number = made.number % ${operators}`;
  await sql`ANALYZE operators, engagement_requests, engagements, queue_tickets, queue_visits, presence_intervals`;
}

const day = { start_date: '2025-06-10T00:00:00Z', end_date: '2025-06-11T00:00:00Z' };
const perDay = Math.ceil(count / 365);

const readings = [
  { tables: 'engagements', read: engagementDurations, max: perDay + 2 },
  { tables: 'queue_visits', read: queueWaits, max: perDay + 2 },
  // Each operator also has an interval that began before the day.
  { tables: 'presence_intervals', read: onlineDurations, max: perDay + 2 + 2 * operators },
] as const;

for (const { tables, read, max } of readings)
  test(`a day of ${tables} reads only the rows of that day`, async () => {
    const query: StatisticsQuery = {
      accountId,
      siteIds: [own.siteId],
      dimensions: ['operator_id', 'type'],
      filter: null,
      from: new Date(day.start_date),
      to: new Date(day.end_date),
      steps: [new Date(day.start_date)],
      serviceLevelSec: 20,
      shortSec: 5,
    };
    const rows = await countRowsRead(server.database.sql, tables, async (sql) => read(sql, query));
    assert.ok(rows > 0 && rows <= max, `${rows} rows of ${tables} were read, at most ${max} are needed`);
  });

test('each statistic of a day and of a year, by operator and by hour, is answered in time', async () => {
  const paths = ['/engagements/stats/duration', '/engagements/stats/queue/wait_duration', '/operators/stats/online_duration']; // prettier-ignore
  const year = { start_date: from, end_date: to };
  for (const path of paths)
    for (const [name, body] of Object.entries({
      'a day by operator and hour': { ...day, granularity: 'hour', dimensions: ['operator_id', 'type'] },
      'a year by operator': { ...year, dimensions: ['operator_id'] },
      'a year by day and outcome or type': { ...year, granularity: 'day', dimensions: [path.includes('queue') ? 'outcome' : 'type'] }, // prettier-ignore
    })) {
      const began = performance.now();
      const { body: rows } = expectStatus(await call(server, `POST ${path}`, { token: own.admin, body }), 200);
      const took = Math.round(performance.now() - began);
      if (isLong) console.log(`${path}, ${name}: ${rows.length} rows in ${took} ms of ${count} rows`);
      assert.ok(rows.length > 0);
      // PostgreSQL cancels slower statements; a year of a large account must stay far below that.
      assert.ok(took < 10_000, `${path}, ${name}: ${took} ms`);
    }
});
