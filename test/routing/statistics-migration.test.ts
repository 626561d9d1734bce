import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openDatabase, type Sql } from '../../packages/server/src/platform/database/database.ts';
import { knownMigrations, migrate } from '../../packages/server/src/platform/database/migrations/migrations.ts';
import { emptyDatabase } from '../support/database/database.ts';

const account = randomUUID();
const site = randomUUID();
const team = randomUUID();

/** Operators in the states that the previous version stored. */
const operators = {
  available: { id: randomUUID(), available: true, lease: null, said: true },
  leased: { id: randomUUID(), available: true, lease: '1 hour', said: true },
  lapsed: { id: randomUUID(), available: true, lease: '-1 hour', said: true },
  away: { id: randomUUID(), available: false, lease: null, said: true },
  engaged: { id: randomUUID(), available: true, lease: null, said: true },
  engagedAway: { id: randomUUID(), available: false, lease: null, said: true },
  silent: { id: randomUUID(), available: false, lease: null, said: false },
} as const;

async function writeOldData(sql: Sql): Promise<void> {
  const known = await knownMigrations();
  const last = known.findIndex(({ file }) => file.includes('statistics'));
  assert.ok(last > 0);
  await sql`CREATE TABLE migrations (number integer PRIMARY KEY, file text NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())`;
  for (const { number, file } of known.slice(0, last)) {
    await sql.unsafe(readFileSync(`packages/server/migrations/${file}`, 'utf8'));
    await sql`INSERT INTO migrations (number, file) VALUES (${number}, ${file})`;
  }
  await sql`INSERT INTO accounts (id, name) VALUES (${account}, 'Old')`;
  await sql`
    INSERT INTO sites (id, account_id, name, addresses, reactive_call_timeout, proactive_call_timeout, missed_call_unavailability_enabled,
                       queue_ticket_timeout_sec, allowed_file_content_types, allowed_file_senders, allowed_origins)
    VALUES (${site}, ${account}, 'Old', '{}', 30, 30, true, 3600, '{}', '{}', '{}')`;
  await sql`INSERT INTO teams (id, account_id, site_id, name) VALUES (${team}, ${account}, ${site}, 'Old')`;
  for (const [name, { id, available, lease, said }] of Object.entries(operators)) {
    await sql`
      INSERT INTO operators (id, account_id, name, email, role, max_engagement_count, enabled, available, media, presence_reason,
                             presence_set_at, presence_expires_at)
      VALUES (${id}, ${account}, ${name}, ${`${name}@old`}, 'operator', 1, true, ${available}, '{text}',
              ${available ? null : 'Lunch'}, CASE WHEN ${said} THEN now() END, now() + ${lease}::text::interval)`;
    await sql`
      INSERT INTO operator_assignments (account_id, operator_id, site_id, role) VALUES (${account}, ${id}, ${site}, 'operator')`;
    await sql`
      INSERT INTO operator_teams (account_id, operator_id, site_id, team_id) VALUES (${account}, ${id}, ${site}, ${team})`;
  }
  for (const { id } of [operators.engaged, operators.engagedAway]) await engage(sql, id);
}

async function engage(sql: Sql, operator: string): Promise<void> {
  const [engagement, visitor, request] = [randomUUID(), randomUUID(), randomUUID()];
  await sql`
    INSERT INTO engagements (id, account_id, asked_on_site_id, site_id, visitor_id, operator_id, sub_engagement_id, sub_started_at, media,
                             request_id, started_at, updated_at)
    VALUES (${engagement}, ${account}, ${site}, ${site}, ${visitor}, ${operator}, ${engagement}, now(), 'text', ${request}, now(), now())`;
  await sql`INSERT INTO active_engagements (account_id, engagement_id) VALUES (${account}, ${engagement})`;
}

test('the migration creates intervals for operators who are available or engaged', async () => {
  const database = openDatabase(await emptyDatabase(), 2);
  const { sql } = database;
  try {
    await writeOldData(sql);
    await migrate(database);
    const rows = await sql`
      SELECT o.name, i.engaged, i.available, i.reason, i.media, i.site_ids, i.team_ids, i.ended_at, i.started_at <= now() AS has_begun
        FROM presence_intervals i JOIN operators o ON o.id = i.operator_id AND o.account_id = i.account_id
       ORDER BY o.name`;
    const everywhere = { media: ['text'], site_ids: [site], team_ids: [team], ended_at: null, has_begun: true };
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { name: 'available', engaged: false, available: true, reason: null, ...everywhere },
        { name: 'engaged', engaged: true, available: true, reason: null, ...everywhere },
        { name: 'engagedAway', engaged: true, available: false, reason: 'Lunch', ...everywhere },
        { name: 'leased', engaged: false, available: true, reason: null, ...everywhere },
      ],
    );
  } finally {
    await database.close();
  }
});
