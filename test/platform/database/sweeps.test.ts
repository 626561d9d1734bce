import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect, databaseErrorCode } from '../../../packages/server/src/platform/database/database.ts';
import { deliveryLog, makeDays } from '../../../packages/server/src/platform/database/daily-logs.ts';
import type { ShouldContinue } from '../../../packages/server/src/platform/database/batches.ts';
import { forThisFile } from '../../support/fixture.ts';
import { insertMany, type ManyRows } from '../../support/many-rows.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { makeAccount } from '../../support/world.ts';

/** Sweeps use the pool for requests. It has one connection here, so that the test can limit its statements. */
const server = await forThisFile(startTestServer({ databaseConnections: 24 }));
const { address, sql } = server.database;

/** Rows of each kind that a sweep deletes, and of others that it keeps. */
const [count, kept] = [2_500, 5_000];
const ago = (days: number): string => `now() - interval '${days} days' + n * interval '1 ms'`;

const account = await makeAccount(server);
const [{ accountId } = assert.fail()] = await sql<{ accountId: string }[]>`
  SELECT account_id AS "accountId" FROM operators WHERE id = ${account.adminId}`;
const ofAccount = { account_id: `'${accountId}'` };
const [site, engagement, destination] = [randomUUID(), randomUUID(), randomUUID()];
const timed = (days: number): string =>
  `(lpad(to_hex((extract(epoch FROM ${ago(days)}) * 1000)::bigint), 12, '0') || right(md5(n::text), 20))::uuid`;

/** What each sweep of the rooms deletes. A sweep without rows of its own says why. */
const swept: Readonly<Record<string, readonly ManyRows[] | string>> = {
  make_event_days: 'creates partitions',
  make_audit_days: 'creates partitions',
  make_delivery_days: 'creates partitions',
  drop_event_days: 'drops partitions',
  drop_audit_days: 'drops partitions',
  drop_signing_keys: 'a key is retired by a command, and deleted a day later',
  drop_idempotency_keys: [{ table: 'idempotency_keys', count, values: { ...ofAccount, created_at: ago(2) } }],
  drop_revocations: [{ table: 'revoked_tokens', count, values: { expires_at: ago(3) } }],
  drop_sign_ins: [
    { table: 'operator_sessions', count, values: { expires_at: ago(2) } },
    { table: 'operator_invitations', count, values: { expires_at: ago(2) } },
    { table: 'sign_in_links', count, values: { expires_at: ago(2) } },
    { table: 'known_devices', count, values: { expires_at: ago(2) } },
    { table: 'operator_access_tokens', count, values: { expires_at: ago(2) } },
  ],
  drop_visitors: [{ table: 'visitors', count, values: { ...ofAccount, token_issued_at: ago(9), version: '1' } }],
  drop_event_secrets: [{ table: 'event_secrets', count, values: { expires_at: ago(2) } }],
  drop_board_moves: [{ table: 'board_moves', count, values: { moved_at: ago(2) } }],
  drop_presence_intervals: [
    { table: 'presence_intervals', count, values: { started_at: ago(900), ended_at: ago(899) } },
  ],
  drop_files: [{ table: 'files', count, values: { state: "'infected'", stored: 'true' } }],
  drop_authentications: [
    {
      table: 'visitor_authentication_requests',
      count,
      values: { state: "'failed'", fail_reason: "'timeout'", created_at: ago(9) },
    },
    { table: 'used_id_tokens', count, values: { used_at: ago(3) } },
  ],
  drop_webhooks_and_logs: [
    {
      table: 'deliveries',
      count,
      values: {
        id: timed(60),
        state: "'held'",
        destination_id: `'${destination}'`,
        occurred_at: ago(60),
        event_seq: 'n',
      },
    },
    { table: 'webhook_recoveries', count, values: { state: "'finished'", finished_at: ago(60) } },
    {
      table: 'webhooks',
      count,
      values: {
        deleted_at: ago(60),
      },
    },
    { table: 'destinations', count, values: { wanted_at: ago(60), leased_until: ago(60) } },
  ],
  remove_deleted_sites: [
    { table: 'deleted_sites', count: 1, values: { ...ofAccount, id: `'${site}'`, deleted_at: ago(2) } },
    { table: 'engagements', count: 1, values: { ...ofAccount, id: `'${engagement}'`, site_id: `'${site}'` } },
    { table: 'chat_messages', count, values: { ...ofAccount, engagement_id: `'${engagement}'` } },
    { table: 'queue_tickets', count, values: { ...ofAccount, site_id: `'${site}'`, ended_at: 'now()' } },
    { table: 'sms_messages', count, values: { ...ofAccount, site_id: `'${site}'` } },
    { table: 'visitors', count, values: { ...ofAccount, site_id: `'${site}'` } },
  ],
};

/** Values of rows that the sweeps keep. */
const young: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  operator_sessions: { expires_at: "now() + interval '1 day'" },
  operator_invitations: { expires_at: "now() + interval '1 day'" },
  sign_in_links: { expires_at: "now() + interval '1 day'" },
  known_devices: { expires_at: "now() + interval '1 day'" },
  operator_access_tokens: { expires_at: "now() + interval '1 day'" },
  event_secrets: { expires_at: "now() + interval '1 day'" },
  idempotency_keys: { caller: "'kept' || n" },
  files: { state: "'clean'", stored: 'true' },
  deliveries: { state: "'held'", destination_id: `'${destination}'`, event_seq: 'n' },
  presence_intervals: { ended_at: 'now()' },
  // The server would work on running ones meanwhile.
  webhook_recoveries: { state: "'finished'", finished_at: 'now()' },
};

type Sweep = (shouldContinue: ShouldContinue) => Promise<void>;

function sweepsOf({ sweeps }: TestServer): Map<string, Sweep> {
  const now = new Date();
  const time = { mayDelete: true, now, steadyNow: now } as const;
  const found = new Map<string, Sweep>();
  for (const { always = {}, expired = {} } of sweeps) {
    for (const [name, run] of Object.entries(always)) found.set(name, run);
    for (const [name, run] of Object.entries(expired)) found.set(name, async (going) => run(time, going));
  }
  return found;
}

const sweeps = sweepsOf(server);

async function countRows({ table }: ManyRows): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM ${sql(table)}`;
  return row?.count ?? 0;
}

/** Makes a statement fail that deletes more rows of the table than a batch has, as if it had taken too long. */
async function refuseLongDeletions({ table }: ManyRows): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION refuse_long_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM gone) > 1000 THEN
        RAISE 'a statement deletes % rows of %', (SELECT count(*) FROM gone), TG_TABLE_NAME USING ERRCODE = '57014';
      END IF;
      RETURN NULL;
    END $$`;
  await sql`
    CREATE OR REPLACE TRIGGER refuse_long AFTER DELETE ON ${sql(table)} REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_long_deletion()`;
}

/** The rows that the one connection of the pool has read in the table so far. */
async function countRowsRead({ table }: ManyRows): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`;
  const [row] = await sql<{ read: number }[]>`
    SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read FROM pg_stat_user_tables WHERE relname = ${table}`;
  return row?.read ?? 0;
}

/** Others read the destinations as well; and an index by block ranges finds rows with all of their blocks. */
const uncounted = new Set(['destinations', 'presence_intervals']);

const isTooLong = (error: unknown): boolean => databaseErrorCode(error) === '57014';

test('every sweep is tested with many rows', () => {
  assert.deepEqual([...sweeps.keys()].toSorted(), Object.keys(swept).toSorted());
});

for (const [name, tables] of Object.entries(swept)) {
  if (typeof tables === 'string') continue;
  test(`${name} deletes any number of rows in batches, and reads few others`, async () => {
    await makeDays(sql, deliveryLog);
    await insertMany(
      address,
      tables
        .filter(({ count: rows }) => rows > 1)
        .map(({ table }) => ({ table, count: kept, values: young[table] ?? {} })),
    );
    const before = new Map<ManyRows, number>();
    for (const rows of tables) before.set(rows, await countRows(rows));
    await insertMany(address, tables);
    for (const rows of tables) await refuseLongDeletions(rows);
    const earlier = new Map<ManyRows, number>();
    for (const rows of tables) earlier.set(rows, await countRowsRead(rows));
    await (sweeps.get(name) ?? assert.fail(name))(() => true);
    for (const rows of tables) {
      const read = (await countRowsRead(rows)) - (earlier.get(rows) ?? 0);
      assert.ok(uncounted.has(rows.table) || read < 6 * count + 1_000, `${read} rows of ${rows.table} were read`);
    }
    // Files keep their rows.
    if (name === 'drop_files')
      assert.equal((await sql`SELECT 1 FROM files WHERE stored AND state = 'infected'`).length, 0);
    else for (const rows of tables) assert.equal(await countRows(rows), before.get(rows), rows.table);
  });
}

/** Of these there are enough that one statement for all is too long. */
const keys = { table: 'idempotency_keys', count: 60_000, values: { ...ofAccount, created_at: ago(2) } };

test('a sweep ends with any number of rows, although one statement for all of them would take too long', async () => {
  await insertMany(address, [keys]);
  const limit = async (ms: number) => sql`SELECT set_config('statement_timeout', ${String(ms)}, false)`;
  await limit(50);
  try {
    await assert.rejects(async () => sql`DELETE FROM idempotency_keys`, isTooLong);
    const sweep = sweeps.get('drop_idempotency_keys') ?? assert.fail();
    // The machine may hold up a batch. What was deleted until then stays deleted.
    for (let tries = 0; tries < 20; tries += 1) {
      const error: unknown = await sweep(() => true).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null) break;
      if (!isTooLong(error)) throw error;
    }
  } finally {
    await limit(15_000);
  }
  assert.equal((await sql`SELECT 1 FROM idempotency_keys WHERE created_at < now() - interval '1 day'`).length, 0);
});

test('a sweep that is interrupted keeps what it has done, and the next one continues', async () => {
  const sweep = sweeps.get('drop_idempotency_keys') ?? assert.fail();
  await sql`TRUNCATE idempotency_keys`;
  await insertMany(address, [{ ...keys, count: 5_000 }]);
  let batches = 0;
  await sweep(() => (batches += 1) <= 2);
  assert.equal(await countRows(keys), 3_000);
  await sweep(() => true);
  assert.equal(await countRows(keys), 0);
});

test('several processes sweep the same table at the same time, and none deletes a row that another transaction renews', async () => {
  await insertMany(address, [{ ...keys, count: 20_000 }]);
  await using second = await startTestServer({}, address);
  const both = [sweeps, sweepsOf(second)].map((of) => of.get('drop_idempotency_keys') ?? assert.fail());
  const renewing = connect(address, { max: 1 });
  try {
    await renewing.begin(async (renewed) => {
      await renewed`UPDATE idempotency_keys SET created_at = now() WHERE caller IN ('t1', 't500')`;
      await Promise.all(both.map(async (sweep) => sweep(() => true)));
      assert.equal(await countRows(keys), 2);
    });
  } finally {
    await renewing.end();
  }
  await Promise.all(both.map(async (sweep) => sweep(() => true)));
  assert.equal(await countRows(keys), 2);
});
