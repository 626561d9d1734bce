import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { startHousekeeping } from '../../packages/server/src/housekeeping.ts';
import type { DeclaredAccess } from '../../packages/server/src/identity/declared-access.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { openCast, type Cast } from '../support/api/cast.ts';
import { expectedAccess, type CallerKind } from '../support/api/expected-access.ts';
import { openFeed } from '../support/people/feed.ts';
import { forThisFile } from '../support/fixture.ts';
import { cloneForServing } from '../support/database/serving-role.ts';
import { oldestMajor } from '../support/database/oldest-postgres.ts';
import { queryVariants, type QueryIds, type QueryParameter } from '../support/api/query-variants.ts';
import { makeTargets } from '../support/api/route-targets.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import { hasSucceeded, validRequest, type ValidRequest } from '../support/api/valid-requests.ts';
import { makeQueue, makeTeam } from '../support/world.ts';

/**
 * Runs the SQL of every route: each kind of caller that a route admits calls it, and each list is read with each of its query
 * parameters. All of it must succeed on the PostgreSQL of the test run: oldest-postgres.test.ts runs this file on the oldest one. The server's role
 * has the rights in docs/guide/database.md, and no others.
 */
const cast = await forThisFile(openCast(await cloneForServing()));

/**
 * The SQL of a route may depend on the kind of caller. Operators of every role are one kind, and application tokens another.
 * A public route does not depend on the caller.
 */
const callerKinds: readonly CallerKind[] = ['visitor', 'secret', 'super_manager'];
const callersOf = ({ access }: DeclaredAccess): readonly CallerKind[] =>
  access.public ? ['nobody'] : callerKinds.filter((kind) => expectedAccess(access, kind) === 'allowed');

const routes = (): DeclaredAccess[] => cast.server.app.declaredAccess.filter(({ method }) => method !== 'HEAD');

/** Sends a request that must succeed. With `mayRefuse` any status below 500 is accepted. */
async function send(
  route: DeclaredAccess,
  { path, token, body, headers }: ValidRequest,
  { query, mayRefuse = false }: { readonly query: string; readonly mayRefuse?: boolean },
): Promise<Json> {
  const answer = await call(cast.server, `${route.method} ${path}${query}`, { token, body, headers });
  const isFine = hasSucceeded(route, answer.status) || (mayRefuse && answer.status < 500);
  const said = `${route.method} ${path}${query} was answered ${answer.status}: ${JSON.stringify(answer.body)}`;
  assert.ok(isFine, `${said}\n${loggedErrors(cast)}`);
  return answer.body;
}

/** The errors that the server has logged, such as statements that PostgreSQL refused. */
function loggedErrors({ server }: Cast): string {
  return server.logged.filter((line) => ['error', 'fatal'].includes(JSON.parse(line).level)).join('');
}

test('the tests run on the requested version of PostgreSQL #oldest', async () => {
  const [row] = await cast.server.database.sql<{ major: number }[]>`
    SELECT current_setting('server_version_num')::integer / 10000 AS major`;
  if (process.env['TEST_POSTGRES'] === 'oldest') assert.equal(row?.major, oldestMajor);
  else assert.ok((row?.major ?? 0) > oldestMajor, 'the embedded PostgreSQL is newer than the oldest supported one');
});

test('every route succeeds for each kind of caller that it admits #oldest', async (t) => {
  for (const route of routes()) {
    await t.test(`${route.method} ${route.url}`, async () => {
      const kinds = callersOf(route);
      assert.ok(kinds.length > 0, 'at least one kind of caller may use the route');
      for (const kind of kinds) {
        const request = await validRequest(cast, route, { kind, targets: await makeTargets(cast, route, kind) });
        await send(route, request, request);
      }
    });
  }
  assert.equal(loggedErrors(cast), '');
});

test('every list succeeds with each of its query parameters #oldest', async (t) => {
  const { paths } = (await call(cast.server, 'GET /openapi.json')).body;
  const ids = await queryIds();
  for (const route of routes()) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    const declared: Json[] = paths[path]?.[route.method.toLowerCase()]?.parameters ?? [];
    const parameters: QueryParameter[] = declared.filter((parameter) => parameter.in === 'query');
    // A deleted resource is gone at the second query.
    if (parameters.length === 0 || route.method === 'DELETE') continue;
    await t.test(`${route.method} ${route.url}`, async () => {
      // The values come from the caller who may see most; other callers may be refused some of them.
      const [highest, ...others] = callersOf(route).toReversed();
      for (const kind of [highest ?? 'nobody', ...others]) {
        const mayRefuse = kind !== highest;
        const targets = await makeTargets(cast, route, kind);
        const request = await validRequest(cast, route, { kind, targets });
        const queries = queryVariants(parameters, { ...ids, ...targets.ids });
        for (const query of queries) await send(route, request, { query, mayRefuse });
        const has = (name: string): boolean => parameters.some((parameter) => parameter.name === name);
        const site = has('site_ids[]') ? `&site_ids[]=${cast.account.siteId}` : '';
        const day = 86_400_000;
        const [from, to] = [Date.now() - day, Date.now() + day].map((at) => new Date(at).toISOString());
        const range = has('from') ? `&from=${from}&to=${to}` : '';
        if (has('cursor')) await followCursor(route, request, { first: `?per_page=1${site}${range}`, mayRefuse });
      }
    });
  }
  assert.equal(loggedErrors(cast), '');
});

/** Reads the second page of a list from `next_page`. The caller who may see most has two rows in every list. */
async function followCursor(
  route: DeclaredAccess,
  request: ValidRequest,
  { first, mayRefuse }: { readonly first: string; readonly mayRefuse: boolean },
): Promise<void> {
  const { next_page } = await send(route, request, { query: first, mayRefuse });
  if (mayRefuse && typeof next_page !== 'string') return;
  assert.equal(typeof next_page, 'string', 'there are two rows, so that there is a second page');
  await send(route, request, { query: new URL(next_page).search });
}

/** One id of each kind that lists can filter by. */
async function queryIds(): Promise<QueryIds> {
  const { server, account } = cast;
  const team_id = await makeTeam(server, account, account.siteId);
  const { ids } = await makeTargets(cast, { method: 'GET', url: '/engagements/:engagement_id' }, 'operator');
  const feed = await openFeed(server, { token: account.admin });
  await feed.close();
  return {
    ...ids,
    ids: ids['visitor_id'] ?? '',
    team_id,
    operator_id: account.adminId,
    actor_id: account.adminId,
    target_id: team_id,
    matching_id: ids['engagement_id'] ?? '',
    queue_id: await makeQueue(server, account),
    last_event_id: feed.lastId(),
  };
}

test('housekeeping succeeds on the data of these tests', async () => {
  const { sql } = cast.server.database;
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk));
      done();
    },
  });
  // Housekeeping deletes unused destinations last.
  const [last] = await sql`
    INSERT INTO destinations (id, account_id, origin, wanted_at)
    SELECT gen_random_uuid(), account_id, 'https://gone.example', now() - interval '1 year' FROM sites LIMIT 1
    RETURNING id`;
  const { clock, dataDir, database } = cast.server;
  await using other = await startTestServer({ eventRetentionDays: 7, dataDir }, database.address);
  const stop = startHousekeeping({ sweeps: other.sweeps, clock, log: createLog('warn', sink) });
  try {
    await until(async () => (await sql`SELECT FROM destinations WHERE id = ${last?.['id']}`).length === 0);
  } finally {
    stop();
  }
  assert.deepEqual(logged, []);
});
