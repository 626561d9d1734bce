import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, roles, type Role } from '@usher/contract/roles';
import type { DeclaredAccess } from '../../packages/server/src/identity/declared-access.ts';
import {
  describeAccess,
  operatorRules,
  type OperatorRule,
} from '../../packages/server/src/identity/declared-access.ts';
import type { ApiDocument } from '../../packages/server/src/platform/reference/openapi/model.ts';
import { openCast } from '../support/api/cast.ts';
import { forThisFile } from '../support/fixture.ts';
import { makeTargets, type Targets } from '../support/api/route-targets.ts';
import { call, type Answer, type Json } from '../support/server.ts';
import { hasSucceeded, validRequest } from '../support/api/valid-requests.ts';
import { expectStatus, makeOperator, signIn, type TestOperator } from '../support/world.ts';

/**
 * Tests the routes whose rule is more than a role on one site, with operators who have the role but take no part or lack one of the
 * sites. Also tests that the API reference describes the rules.
 */
const cast = await forThisFile(openCast());
const { server, account } = cast;
const on = async (role: Role): Promise<TestOperator> =>
  makeOperator(server, account, [{ site_id: account.siteId, role }]);
const bystanders = {
  operator: await on('operator'),
  manager: await on('manager'),
  super_manager: await on('super_manager'),
};

interface RuledRoute extends DeclaredAccess {
  readonly rule: OperatorRule;
  readonly least: Role;
}

function ruledRoutes(): RuledRoute[] {
  return cast.server.app.declaredAccess.flatMap((route) => {
    const { access, method } = route;
    if (access.public || access.rule === undefined || access.operator === undefined || method === 'HEAD') return [];
    return [{ ...route, rule: access.rule, least: access.operator }];
  });
}

/** What the rule says for an operator with this role on one site who takes no part. */
function expectedFor({ rule, least }: RuledRoute, role: Role): 'allowed' | 'refused' {
  switch (rule) {
    case 'took part or manages':
    case 'sent it or manages':
      return atLeast(role, 'manager') ? 'allowed' : 'refused';
    case 'self or one site':
    case 'any site, or registrar':
      return atLeast(role, least) ? 'allowed' : 'refused';
    case 'takes part':
    case 'every site':
    case 'every site, own availability':
    case 'self or every site':
    case 'every webhook site':
    case 'every webhook site, or registrar':
      return 'refused';
  }
}

/** Adds a second site, where the bystanders have no role, to the operator or webhook of the route. */
async function addSecondSite({ ids }: Targets): Promise<void> {
  const { server, account, otherSite } = cast;
  const sites = [account.siteId, otherSite];
  const { operator_id: operatorId, webhook_id: webhookId } = ids;
  if (operatorId !== undefined) {
    const assignments = sites.map((site_id) => ({ site_id, role: 'operator' }));
    await call(server, `PATCH /operators/${operatorId}`, { token: account.admin, body: { assignments } });
  }
  if (webhookId !== undefined)
    await server.database.sql`UPDATE webhooks SET site_ids = ${sites}::uuid[] WHERE id = ${webhookId}`;
}

async function ask(route: RuledRoute, targets: Targets, token: string, body?: Json): Promise<Answer> {
  const request = await validRequest(cast, route, { kind: 'super_manager', targets });
  const { path, query, headers } = request;
  return call(cast.server, `${route.method} ${path}${query}`, { token, body: body ?? request.body, headers });
}

test('an operator who only has the role is allowed or refused as the rule of the route says', async () => {
  const rules = new Set<OperatorRule>();
  for (const route of ruledRoutes()) {
    rules.add(route.rule);
    let targets: Targets | null = null;
    for (const role of roles) {
      const expectedResult = expectedFor(route, role);
      if (targets === null) {
        targets = await makeTargets(cast, route, 'operator');
        if (!route.url.startsWith('/transfer_')) await addSecondSite(targets);
      }
      const answer = await ask(route, targets, bystanders[role].token);
      const found = hasSucceeded(route, answer.status) ? 'allowed' : 'refused';
      const name = `${route.method} ${route.url}, ${role}: ${answer.status} ${JSON.stringify(answer.body)}`;
      assert.equal(found, expectedResult, name);
      if (found === 'refused') assert.ok([403, 404].includes(answer.status), name);
      if (found === 'allowed') targets = null;
    }
  }
  assert.deepEqual([...rules].toSorted(), Object.keys(operatorRules).toSorted());
});

test('operators may use routes about themselves as the rule of the route says', async () => {
  const { server, account } = cast;
  for (const route of ruledRoutes()) {
    if (!route.url.includes('/operators/:operator_id')) continue;
    const targets = await makeTargets(cast, route, 'operator');
    const key = await call(server, `POST /operators/${targets.ids['operator_id']}/api_keys`, { token: account.admin });
    const token = await signIn(server, expectStatus(key, 201).body);
    const answer = await ask(route, targets, token);
    const mayThemselves = route.rule.startsWith('self');
    assert.equal(hasSucceeded(route, answer.status), mayThemselves, `${route.method} ${route.url} ${answer.status}`);
    if (route.rule === 'every site, own availability')
      expectStatus(await ask(route, targets, token, { available: true }), 200);
  }
});

test('a token that is limited to some sites is refused where the route declares wholeToken', async () => {
  const { server, account } = cast;
  const { id: api_key_id, secret: api_key_secret } = account.key;
  const credentials = { api_key_id, api_key_secret, site_ids: [account.siteId] };
  const obtained = await call(server, 'POST /operator_authentication/tokens', { body: credentials });
  const { token } = expectStatus(obtained, 200).body;
  const whole = server.app.declaredAccess.filter(({ access }) => !access.public && access.wholeToken === true);
  assert.ok(whole.length > 8);
  for (const route of whole) {
    if (route.method === 'HEAD') continue;
    const targets = await makeTargets(cast, route, 'super_manager');
    const { path, query, body, headers } = await validRequest(cast, route, { kind: 'super_manager', targets });
    const answer = await call(server, `${route.method} ${path}${query}`, { token, body, headers });
    assert.match(expectStatus(answer, 403).body.detail, /limited to some sites/, route.url);
  }
});

test('the API reference says who may use each route, as the route declares it', async () => {
  const document = (await call(cast.server, 'GET /openapi.json')).body as ApiDocument;
  for (const { method, url, access } of cast.server.app.declaredAccess) {
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    const operation = document.paths[path]?.[method.toLowerCase()];
    if (operation !== undefined) assert.equal(operation['x-access'], describeAccess(access), `${method} ${url}`);
  }
  const says = (path: string, method: string): string => document.paths[path]?.[method]?.['x-access'] ?? '';
  assert.deepEqual(
    [
      says('/engagements/{engagement_id}/chat_messages/{message_id}', 'put'),
      says('/engagements/{engagement_id}/chat_transcript', 'get'),
      says('/operators/{operator_id}', 'delete'),
      says('/operators/{operator_id}/api_keys', 'post'),
      says('/webhooks/{webhook_id}', 'put'),
      says('/webhooks/{webhook_id}', 'delete'),
      says('/engagements', 'get'),
      says('/operator_authentication/tokens', 'post'),
      says('/healthz', 'get'),
    ],
    [
      'Who: the operator who takes part, with a role on the site; the visitor',
      'Who: an operator with a role on the site who takes part, took part or serves the visitor now; manager on the site; the visitor',
      'Who: super_manager on every site of the operator',
      'Who: the operator themselves; super_manager on every site of the operator. Not with a token that is limited to some sites',
      'Who: super_manager on every site of the webhook',
      'Who: super_manager on every site of the webhook; the operator who registered it, with any role',
      'Who: operator on every requested site; the visitor',
      'Anyone who presents an API key',
      'Anyone',
    ],
  );
});
