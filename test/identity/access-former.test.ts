import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, type Role } from '@usher/contract/roles';
import type { Access, DeclaredAccess } from '../../packages/server/src/identity/declared-access.ts';
import { openCast } from '../support/api/cast.ts';
import { forThisFile } from '../support/fixture.ts';
import { makeTargets } from '../support/api/route-targets.ts';
import { call, type Answer } from '../support/server.ts';
import { hasSucceeded, validRequest, type ValidRequest } from '../support/api/valid-requests.ts';
import { expectStatus, makeOperator } from '../support/world.ts';

/**
 * Calls every route as an operator who was super_manager of the site and took part in everything there, and who has since been
 *
 *   moved       to another site, as an operator;
 *   unassigned  from every site;
 *   disabled    and cannot sign in.
 *
 * The same requests succeed for an operator who has the role and takes part (access.test.ts).
 */
type State = 'moved' | 'unassigned' | 'disabled';

const cast = await forThisFile(openCast());
const former = await makeOperator(cast.server, cast.account, [{ site_id: cast.account.siteId, role: 'super_manager' }]);

async function assign(assignments: readonly { site_id: string; role: Role }[]): Promise<void> {
  const { server, account } = cast;
  const path = `PATCH /operators/${former.id}`;
  expectStatus(await call(server, path, { token: account.admin, body: { assignments } }), 200);
}

/** `null`: the route does not depend on sites. */
function expected(access: Access, state: State): 'allowed' | 401 | 403 | 404 | null {
  if (access.public) return null;
  if (state === 'disabled') return 401;
  if (access.operator === undefined) return 403;
  if (access.site === 'none') return null;
  // An operator who is super_manager nowhere gets 403 before the webhook is looked up.
  if (access.rule?.startsWith('every webhook site') === true) return 403;
  if (access.site !== 'anywhere') return 404;
  return state === 'moved' && atLeast('operator', access.operator) ? 'allowed' : 403;
}

interface RouteRequest {
  readonly route: DeclaredAccess;
  readonly request: ValidRequest;
}

let requestCount = 0;

async function ask({ route, request: { path, query, body, headers } }: RouteRequest): Promise<Answer> {
  requestCount += 1;
  const from = { 'x-forwarded-for': `10.1.${Math.floor(requestCount / 200)}.${requestCount % 200}` };
  const request = `${route.method} ${path}${query}`;
  return call(cast.server, request, { token: former.token, body, headers: { ...headers, ...from } });
}

async function check(given: RouteRequest, state: State): Promise<void> {
  const { route } = given;
  const expectedResult = expected(route.access, state);
  // GET routes about the caller themselves succeed, but must not contain the site.
  const isOwn = expectedResult === null && !route.access.public && route.method === 'GET';
  if (expectedResult === null && !isOwn) return;
  const answer = await ask(given);
  const found = hasSucceeded(route, answer.status) ? 'allowed' : answer.status;
  const name = `${route.method} ${route.url}, ${state}`;
  assert.equal(found, expectedResult ?? 'allowed', `${name}: ${JSON.stringify(answer.body)}`);
  if (found !== 'allowed') return;
  const { siteId } = cast.account;
  assert.ok(!JSON.stringify(answer.body).includes(siteId), `${name} contains the site: ${JSON.stringify(answer.body)}`);
}

test('an operator who has left a site reaches nothing of it by any route, not even what they took part in', async (t) => {
  const { server, account, otherSite } = cast;
  const routes = server.app.declaredAccess.filter(({ method }) => method !== 'HEAD');
  const all: RouteRequest[] = [];
  await t.test('moved to another site', async () => {
    for (const route of routes) {
      if (route.access.public) continue;
      await assign([{ site_id: account.siteId, role: 'super_manager' }]);
      const targets = await makeTargets(cast, route, 'super_manager', former);
      const request = await validRequest(cast, route, { kind: 'super_manager', targets });
      const given = { route, request };
      await assign([{ site_id: otherSite, role: 'operator' }]);
      await check(given, 'moved');
      all.push(given);
    }
    assert.ok(all.length > 100);
  });
  await t.test('unassigned from every site', async () => {
    await assign([]);
    for (const given of all) await check(given, 'unassigned');
  });
  await t.test('disabled', async () => {
    expectStatus(await call(server, `DELETE /operators/${former.id}`, { token: account.admin }), 204);
    for (const given of all) await check(given, 'disabled');
  });
  t.diagnostic(`${all.length} routes, ${requestCount} requests`);
});
