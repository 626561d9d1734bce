import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startHousekeeping } from '../../packages/server/src/housekeeping.ts';
import { listEntries, type AuditFilter } from '../../packages/server/src/identity/audit/store.ts';
import type { AccountId, OperatorId, SiteId } from '../../packages/server/src/platform/ids.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { forThisFile } from '../support/fixture.ts';
import { countRowsRead } from '../support/database/rows-read.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { makeWebhook } from '../support/receivers/webhooks.ts';
import {
  expectStatus,
  makeAccount,
  makeOperator,
  makeQueue,
  makeSite,
  makeTeam,
  type TestAccount,
  type TestOperator,
} from '../support/world.ts';

const server = await forThisFile(startTestServer());

async function read(token: string, query = ''): Promise<Json[]> {
  return expectStatus(await call(server, `GET /audit_log?per_page=1000${query}`, { token }), 200).body.audit_log;
}

const summaries = (entries: readonly Json[]): string[] =>
  entries.map(({ action, target }) => `${action} ${target.name}`);

/** An account with two sites and a super_manager of each. */
interface TwoSites {
  readonly account: TestAccount;
  readonly other: SiteId;
  readonly here: TestOperator;
  readonly there: TestOperator;
}

async function makeTwoSites(): Promise<TwoSites> {
  const account = await makeAccount(server);
  const other = await makeSite(server, account, 'Other');
  const [here, there] = [account.siteId, other].map(async (site_id) =>
    makeOperator(server, account, [{ site_id, role: 'super_manager' }]),
  );
  assert.ok(here && there);
  const two = { account, other, here: await here, there: await there };
  // Removes the entries of the setup.
  await server.database.sql`DELETE FROM audit_log`;
  return two;
}

test('an entry is visible only to super_managers of its site', async () => {
  const { account, other, here, there } = await makeTwoSites();
  await makeTeam(server, account, account.siteId);
  await makeTeam(server, account, other);
  const stranger = await makeAccount(server);
  assert.deepEqual(
    (await read(account.admin)).map(({ site_ids }) => site_ids),
    [[other], [account.siteId]],
  );
  assert.deepEqual(
    (await read(here.token)).map(({ site_ids }) => site_ids),
    [[account.siteId]],
  );
  assert.deepEqual(
    (await read(there.token)).map(({ site_ids }) => site_ids),
    [[other]],
  );
  assert.deepEqual(await read(stranger.admin), []);
  for (const role of ['operator', 'manager']) {
    const { token } = await makeOperator(server, account, [{ site_id: account.siteId, role }]);
    assert.equal((await call(server, 'GET /audit_log', { token })).status, 403);
  }
});

test('a token that is limited to a site shows only entries of that site', async () => {
  const { account, other } = await makeTwoSites();
  await makeTeam(server, account, account.siteId);
  await makeTeam(server, account, other);
  const limited = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: account.key.id, api_key_secret: account.key.secret, site_ids: [other] },
  });
  const entries = await read(expectStatus(limited, 200).body.token);
  assert.deepEqual(
    entries.map(({ site_ids }) => site_ids),
    [[other]],
  );
});

test('moving an operator to another site is visible to super_managers of both sites', async () => {
  const { account, other, here, there } = await makeTwoSites();
  const body = { name: 'Mover', email: 'mover@test', assignments: [{ site_id: account.siteId }] };
  const { id } = expectStatus(await call(server, 'POST /operators', { token: account.admin, body }), 201).body;
  const moved = { assignments: [{ site_id: other }] };
  expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: moved }), 200);
  const freed = { assignments: [] };
  expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: freed }), 200);
  const named = { name: 'Free' };
  expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: named }), 200);
  const [renamed, left, came, made] = (await read(account.admin)).map((entry) => entry.id);
  const ids = async (token: string): Promise<string[]> => (await read(token)).map((entry) => entry.id);
  // Changes of an operator without a site are visible to every super_manager.
  assert.deepEqual(await ids(here.token), [renamed, came, made]);
  assert.deepEqual(await ids(there.token), [renamed, left, came]);
});

test('entries about a webhook are visible to super_managers of all its sites', async () => {
  const { account, other, here, there } = await makeTwoSites();
  await makeWebhook(server, account);
  await makeWebhook(server, account, { site_ids: [account.siteId, other] });
  const { id } = await makeWebhook(server, account, { site_ids: [account.siteId] });
  assert.equal((await read(account.admin)).length, 3);
  assert.deepEqual(
    (await read(here.token)).map(({ target }) => target.id),
    [id],
  );
  assert.deepEqual(await read(there.token), []);
  // Filtered by site: webhooks that name the site, and webhooks whose registrar is super_manager of the site.
  assert.equal((await read(account.admin, `&site_ids[]=${other}`)).length, 2);
});

test('entries about a deleted site are visible to super_managers of all remaining sites', async () => {
  const { account, other, here, there } = await makeTwoSites();
  const gone = await makeSite(server, account, 'Gone');
  const body = { site_ids: [gone, other] };
  await makeWebhook(server, account, body);
  const remove = async (id: string): Promise<void> => {
    await server.database.sql`DELETE FROM operator_assignments WHERE site_id = ${id}`;
    await server.database.sql`DELETE FROM sites WHERE id = ${id}`;
  };
  await remove(gone);
  assert.deepEqual(
    (await read(account.admin)).map(({ action }) => action),
    ['webhook.create', 'site.create'],
  );
  assert.deepEqual(await read(here.token), []);
  assert.deepEqual(
    (await read(there.token)).map(({ action }) => action),
    ['webhook.create'],
  );
});

test('the actor of an entry has the name they had at the time', async () => {
  const { account, here } = await makeTwoSites();
  const rename = async (name: string): Promise<void> => {
    expectStatus(await call(server, `PATCH /operators/${here.id}`, { token: account.admin, body: { name } }), 200);
  };
  const add = async (name: string): Promise<void> => {
    const body = { site_id: account.siteId, name };
    expectStatus(await call(server, 'POST /teams', { token: here.token, body }), 201);
  };
  await rename('Ann');
  await add('one');
  await rename('Bob');
  await add('two');
  const entries = await read(account.admin, `&actor_id=${here.id}`);
  assert.deepEqual(
    entries.map(({ actor, target, via }) => [actor.name, target.name, via]),
    [
      ['Bob', 'two', here.keyId],
      ['Ann', 'one', here.keyId],
    ],
  );
});

test('each filter returns exactly the matching entries', async () => {
  const { account, other, here } = await makeTwoSites();
  const team = await makeTeam(server, account, account.siteId);
  const { length } = await read(account.admin);
  assert.equal(length, 1);
  await makeQueue(server, account);
  await makeTeam(server, account, other);
  expectStatus(await call(server, `PATCH /teams/${team}`, { token: here.token, body: { name: 'Blue' } }), 200);
  expectStatus(await call(server, `DELETE /teams/${team}`, { token: here.token }), 204);
  const all = (await read(account.admin)).toReversed();
  assert.deepEqual(summaries(all), [
    'team.create Team',
    'queue.create Queue',
    'team.create Team',
    'team.update Blue',
    'team.delete Blue',
  ]);
  const fits = async (query: string): Promise<number[]> => {
    const found = new Set((await read(account.admin, query)).map(({ id }) => id));
    return all.flatMap(({ id }, index) => (found.has(id) ? index : []));
  };
  assert.deepEqual(await fits(`&actor_id=${here.id}`), [3, 4]);
  assert.deepEqual(await fits('&action=team.create'), [0, 2]);
  assert.deepEqual(await fits('&action=team'), []);
  assert.deepEqual(await fits('&target_type=team'), [0, 2, 3, 4]);
  assert.deepEqual(await fits(`&target_id=${team}`), [0, 3, 4]);
  assert.deepEqual(await fits(`&site_ids[]=${other}`), [2]);
  assert.deepEqual(await fits(`&site_ids[]=${other}&site_ids[]=${account.siteId}`), [0, 1, 2, 3, 4]);
  assert.deepEqual(await fits(`&target_type=team&actor_id=${account.adminId}&site_ids[]=${account.siteId}`), [0]);
  for (const [from, to] of [
    ['from', 'to'],
    ['since', 'until'],
  ]) {
    assert.deepEqual(
      await fits(`&${from}=${all[2].at}`),
      at(all, (time) => time >= all[2].at),
    );
    assert.deepEqual(
      await fits(`&${to}=${all[2].at}`),
      at(all, (time) => time < all[2].at),
    );
  }
  assert.deepEqual(await fits('&since=2030-01-01T00:00:00Z&until=2029-01-01T00:00:00Z'), []);
});

function at(entries: readonly Json[], fits: (time: string) => boolean): number[] {
  return entries.flatMap((entry, index) => (fits(entry.at) ? index : []));
}

test('an invalid query is refused', async () => {
  const { account, other, here } = await makeTwoSites();
  const refused: [string, string, number][] = [
    [account.admin, 'cursor=nonsense', 422],
    [account.admin, `cursor=${Buffer.from('9999999999999999 x').toString('base64url')}`, 422],
    [account.admin, 'since=yesterday', 422],
    [account.admin, 'to=yesterday', 422],
    [account.admin, 'from=2027-01-01T00:00:00Z&since=2027-01-01T00:00:00Z', 422],
    [account.admin, 'until=2027-06-30T23:59:60Z', 422],
    [account.admin, 'actor_id=me', 422],
    [account.admin, 'per_page=0', 422],
    [account.admin, 'action=', 422],
    [here.token, `site_ids[]=${other}`, 404],
  ];
  for (const [token, query, status] of refused)
    expectStatus(await call(server, `GET /audit_log?${query}`, { token }), status);
});

/** Inserts entries with these times. */
async function write({ adminId, siteId }: TestAccount, times: readonly Date[]): Promise<void> {
  for (const time of times)
    await server.database.sql`
      INSERT INTO audit_log (account_id, id, at, site_ids, of_each, actor_id, actor_name, via, action, target_type, target_id,
                             changes, request_id)
      SELECT account_id, gen_random_uuid(), ${time}, ${[siteId]}::uuid[], false, id, name, 'key', 'team.create', 'team',
             gen_random_uuid()::text, '[]', 'request'
        FROM operators WHERE id = ${adminId}`;
}

const dayMs = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * dayMs);
const dateOf = (days: number): string => daysAgo(days).toISOString().slice(0, 10);

async function makeDay(days: number): Promise<void> {
  await server.database.sql`SELECT make_day('audit_log', 'at', ${dateOf(days)}::date)`;
}

test('paging shows each entry once, newest first, even if entries are written meanwhile', async () => {
  const { account } = await makeTwoSites();
  for (const days of [2, 1]) await makeDay(days);
  await write(account, [daysAgo(5), daysAgo(2), daysAgo(2), daysAgo(1), daysAgo(1)]);
  await makeTeam(server, account, account.siteId);
  await makeTeam(server, account, account.siteId);
  const whole = (await read(account.admin)).map(({ id }) => id);
  assert.equal(whole.length, 7);
  for (const size of [1, 2, 3, 6, 7, 8]) {
    const found: string[] = [];
    let pages = 0;
    for (let path: string | null = `/audit_log?per_page=${size}&action=team.create`; path !== null; pages += 1) {
      const { body } = expectStatus(await call(server, `GET ${path}`, { token: account.admin }), 200);
      if (pages === 0) await write(account, [new Date()]);
      found.push(...body.audit_log.map((entry: Json) => entry.id));
      path = body.next_page === null ? null : body.next_page.slice(server.url.length);
      assert.ok(path === null || path.includes('action=team.create'));
    }
    assert.deepEqual(found.slice(-whole.length), whole);
    assert.equal(pages, Math.ceil(found.length / size));
  }
});

test('entries are deleted after the retention time of events', async () => {
  const { account } = await makeTwoSites();
  for (const days of [8, 7]) await makeDay(days);
  await write(account, [daysAgo(20), daysAgo(8), daysAgo(7), daysAgo(6)]);
  const { sql } = server.database;
  const days = async (): Promise<string[]> => {
    const rows = await sql<{ at: Date }[]>`SELECT at FROM audit_log ORDER BY at`;
    return rows.map(({ at: time }) => time.toISOString().slice(0, 10));
  };
  assert.deepEqual(await days(), [20, 8, 7, 6].map(dateOf));
  await sql`DROP TABLE IF EXISTS ${sql(`audit_log_${dateOf(-3).replaceAll('-', '')}`)}`;
  await using other = await startTestServer({ eventRetentionDays: 7 }, server.database.address);
  const stop = startHousekeeping({ sweeps: other.sweeps, clock: server.clock, log: createLog('silent') });
  try {
    await until(async () => (await days()).length === 2);
    const [next] = await sql`SELECT to_regclass(${`audit_log_${dateOf(-3).replaceAll('-', '')}`}) AS made`;
    assert.notEqual(next?.['made'], null);
  } finally {
    stop();
  }
  assert.deepEqual(await days(), [7, 6].map(dateOf));
});

test('filtering by actor or action reads few rows among many entries', async () => {
  const { account, here } = await makeTwoSites();
  await makeTeam(server, { ...account, admin: here.token }, account.siteId);
  const { sql } = server.database;
  await sql`
    INSERT INTO audit_log (account_id, id, site_ids, of_each, actor_id, actor_name, via, action, target_type, target_id,
                           target_name, changes, request_id)
    SELECT account_id, gen_random_uuid(), site_ids, of_each, ${account.adminId}, actor_name, via, 'queue.update', 'queue',
           gen_random_uuid()::text, target_name, changes, request_id
      FROM audit_log, generate_series(1, 20000)`;
  await sql`ANALYZE audit_log`;
  const [{ account_id: accountId } = assert.fail()] = await sql<{ account_id: AccountId }[]>`
    SELECT account_id FROM audit_log LIMIT 1`;
  const all: AuditFilter = {
    accountId,
    reach: [account.siteId],
    siteIds: null,
    actorId: null,
    action: null,
    targetType: null,
    targetId: null,
    since: new Date(Date.now() - 86_400_000),
    until: new Date(Date.now() + 60_000),
    before: null,
    limit: 50,
  };
  for (const rare of [{}, { actorId: here.id as OperatorId }, { action: 'team.create' }]) {
    const read = await countRowsRead(sql, 'audit_log%', async (own) => listEntries(own, { ...all, ...rare }));
    assert.ok(read <= 100, `${JSON.stringify(rare)}: ${read}`);
  }
});
