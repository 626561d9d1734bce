import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCluster, type Cluster } from '../support/processes/cluster.ts';
import { openWorld } from '../support/fixture.ts';
import { call, until, type Json } from '../support/server.ts';
import { expectStatus, makeAccount, makeQueue, makeTeam, type ServerHandle } from '../support/world.ts';

/** Under faults there is no change without its audit entry, and no entry without its change. */
const { server, account } = await openWorld();

async function entriesAbout({ database: { sql } }: Pick<ServerHandle, 'database'>, id: string): Promise<Json[]> {
  return [...(await sql`SELECT action, changes FROM audit_log WHERE target_id = ${id} ORDER BY seq`)];
}

async function nameOf({ database: { sql } }: Pick<ServerHandle, 'database'>, team: string): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM teams WHERE id = ${team}`;
  return row?.name ?? 'deleted';
}

test('a change and its audit entry are written in one transaction', async () => {
  const { sql } = server.database;
  const team = await makeTeam(server, account, account.siteId);
  const queue = await makeQueue(server, account);
  const body = { name: 'Renamed' };
  expectStatus(await call(server, `PATCH /teams/${team}`, { token: account.admin, body }), 200);
  for (const [table, id] of [
    ['teams', team],
    ['queues', queue],
  ] as const) {
    const [row] = await sql`SELECT xmin::text AS xid FROM ${sql(table)} WHERE id = ${id}`;
    const entries =
      await sql`SELECT xmin::text AS xid FROM audit_log WHERE target_id = ${id} ORDER BY seq DESC LIMIT 1`;
    assert.ok(row?.['xid']);
    assert.equal(entries[0]?.['xid'], row['xid']);
  }
});

test('nothing is changed if the audit entry cannot be written', async () => {
  const { sql } = server.database;
  const team = await makeTeam(server, account, account.siteId);
  await sql`ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (action NOT LIKE 'team.%') NOT VALID`;
  try {
    const count = async (): Promise<Json> => (await sql`SELECT count(*) FROM teams`)[0]?.['count'];
    const before = await count();
    for (const [request, body] of [
      [`PATCH /teams/${team}`, { name: 'Renamed' }],
      [`DELETE /teams/${team}`, undefined],
      ['POST /teams', { site_id: account.siteId, name: 'New' }],
    ] as const) {
      for (const headers of [{}, { 'idempotency-key': `broken ${request}`.replaceAll(' ', '-') }])
        assert.equal((await call(server, request, { token: account.admin, body, headers })).status, 500);
    }
    assert.equal(await count(), before);
    assert.equal(await nameOf(server, team), 'Team');
  } finally {
    await sql`ALTER TABLE audit_log DROP CONSTRAINT broken`;
  }
  const body = { name: 'Renamed' };
  expectStatus(await call(server, `PATCH /teams/${team}`, { token: account.admin, body }), 200);
  assert.equal((await entriesAbout(server, team)).length, 2);
});

test('no audit entry remains if the commit of the change fails', async () => {
  const { sql } = server.database;
  const team = await makeTeam(server, account, account.siteId);
  await sql`
    CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'at the commit'; END $$`;
  await sql`
    CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON teams DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    EXECUTE FUNCTION refuse_commit()`;
  try {
    const body = { name: 'Renamed' };
    assert.equal((await call(server, `PATCH /teams/${team}`, { token: account.admin, body })).status, 500);
  } finally {
    await sql`DROP FUNCTION refuse_commit CASCADE`;
  }
  assert.equal(await nameOf(server, team), 'Team');
  assert.deepEqual(
    (await entriesAbout(server, team)).map(({ action }) => action),
    ['team.create'],
  );
});

test('a process that is killed between a change and its audit entry leaves neither', async () => {
  await using cluster: Cluster = await startCluster(2);
  const [first, second] = cluster.nodes;
  assert.ok(first && second);
  const own = await makeAccount(cluster.reach(first));
  const team = await makeTeam(cluster.reach(first), own, own.siteId);
  const { sql } = cluster.database;
  const waiting = async (): Promise<number> => {
    const rows = await sql`
      SELECT pid FROM pg_stat_activity WHERE query LIKE '%INSERT INTO audit_log%' AND wait_event_type = 'Lock'`;
    return rows.length;
  };
  await sql.begin(async (holding) => {
    await holding`LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE`;
    const lost = call(first, `PATCH /teams/${team}`, { token: own.admin, body: { name: 'Lost' } });
    await Promise.all([
      assert.rejects(lost),
      until(async () => (await waiting()) === 1, 20_000).then(async () => first.stop('SIGKILL')),
    ]);
  });
  // The next request waits until the lost transaction is rolled back, and finds the team unchanged.
  const kept = { name: 'Kept' };
  expectStatus(await call(second, `PATCH /teams/${team}`, { token: own.admin, body: kept }), 200);
  assert.deepEqual(
    (await entriesAbout(cluster, team)).map(({ action, changes }) => [action, changes[0]]),
    [
      ['team.create', { field: 'name', after: 'Team' }],
      ['team.update', { field: 'name', before: 'Team', after: 'Kept' }],
    ],
  );
});
