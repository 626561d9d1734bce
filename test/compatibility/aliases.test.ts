import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { aliases } from '../../packages/server/src/platform/http/aliases.ts';
import { newNumber } from '../support/services/carrier.ts';
import { openCast } from '../support/api/cast.ts';
import { expectedAccess, type CallerKind } from '../support/api/expected-access.ts';
import { forThisFile } from '../support/fixture.ts';
import { makeTargets } from '../support/api/route-targets.ts';
import { call, startTestServer, type Json } from '../support/server.ts';
import { hasSucceeded, validRequest } from '../support/api/valid-requests.ts';
import { expectStatus, makeAccount, makeOperator } from '../support/world.ts';

/** An alias of a request behaves exactly like the operation it stands for. */
const cast = await forThisFile(openCast());

function smsFields(site_id: string): Json {
  return { site_id, from_number: newNumber(), to_number: newNumber(), message: 'Hi' };
}

const callerKinds: readonly CallerKind[] = ['nobody', 'visitor', 'operator', 'super_manager', 'stranger'];

test('every alias has the permissions of its operation', async (t) => {
  assert.ok(aliases.length > 1);
  for (const { from, to } of aliases) {
    await t.test(from, async () => {
      const [method = '', url = ''] = to.split(' ', 2);
      const route = cast.server.app.declaredAccess.find((each) => each.method === method && each.url === url);
      assert.ok(route !== undefined, `${to} is an operation`);
      const isOwn = cast.server.app.declaredAccess.some((each) => `${each.method} ${each.url}` === from);
      assert.ok(!isOwn, `${from} is not an operation itself`);
      for (const kind of callerKinds) {
        const targets = await makeTargets(cast, route, kind);
        const { query, token, body, headers } = await validRequest(cast, route, { kind, targets });
        const path = from.replaceAll(/:(\w+)/g, (_, id: string) => targets.ids[id] ?? 'unknown');
        const answer = await call(cast.server, `${path}${query}`, { token, body, headers });
        const found: number | 'allowed' = hasSucceeded(route, answer.status) ? 'allowed' : answer.status;
        assert.equal(found, expectedAccess(route.access, kind), `${kind}: ${JSON.stringify(answer.body)}`);
      }
    });
  }
});

test('an alias is validated, audited and logged as its operation', async () => {
  const { server, account } = cast;
  const { id: operatorId } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const token = account.admin;
  const refused = await call(server, `POST /operators/${operatorId}`, { token, body: { colour: 'red' } });
  assert.equal(expectStatus(refused, 422).body.details[0].attribute, '/colour');
  const etag = { 'if-match': '"0"' };
  expectStatus(await call(server, `POST /operators/${operatorId}`, { token, body: {}, headers: etag }), 412);
  const id = 'seen-as-patch';
  const body = { max_engagement_count: 7 };
  const headers = { 'x-request-id': id };
  expectStatus(await call(server, `POST /operators/${operatorId}`, { token, body, headers }), 200);
  const { audit_log: entries } = (await call(server, 'GET /audit_log', { token })).body;
  assert.deepEqual(
    [entries[0].request_id, entries[0].action, entries[0].changes],
    [id, 'operator.update', [{ field: 'max_engagement_count', before: 1, after: 7 }]],
  );
  const line = server.logged.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === id);
  assert.deepEqual([line.method, line.route], ['PATCH', '/operators/:operator_id']);
  const wrong = await call(server, 'GET /router/outbound_sms', { token });
  assert.equal(expectStatus(wrong, 405).headers.get('allow'), 'POST');
});

test('an alias and its operation share one rate limit', async () => {
  const server = await startTestServer({ rateLimitPerToken: 4 });
  try {
    const { admin: token, adminId } = await makeAccount(server);
    const ask = async (method: string): Promise<number> =>
      (await call(server, `${method} /operators/${adminId}`, { token, body: {} })).status;
    const statuses = [await ask('POST'), await ask('PATCH'), await ask('POST'), await ask('POST'), await ask('PATCH')];
    // `makeAccount` has used the first of the four requests.
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
  } finally {
    await server[Symbol.asyncDispose]();
  }
});

test('an alias and its operation share Idempotency-Keys', async () => {
  const { account } = cast;
  const request = { token: account.admin, body: smsFields(account.siteId), headers: { 'idempotency-key': 'one-sms' } };
  const first = expectStatus(await call(cast.server, 'POST /router/outbound_sms', request), 201);
  const again = expectStatus(await call(cast.server, 'POST /outbound_sms', request), 201);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal(again.body.id, first.body.id);
});

test('the stored hash of an idempotent request does not help to guess a password in it', async () => {
  const password = 'seven purple kettles';
  const body = { name: 'Cleo', email: 'cleo@shop.example', password, password_confirmation: password };
  const request = { token: cast.account.admin, body };
  const headers = { 'idempotency-key': 'a-key-that-nobody-knows' };
  const first = expectStatus(await call(cast.server, 'POST /operators', { ...request, headers }), 201);
  const again = expectStatus(await call(cast.server, 'POST /operators', { ...request, headers }), 201);
  assert.equal(again.body.id, first.body.id);
  const others = 'eight purple kettles';
  const other = { ...body, password: others, password_confirmation: others };
  expectStatus(await call(cast.server, 'POST /operators', { ...request, body: other, headers }), 422);
  const rows = await cast.server.database.sql<{ hash: string }[]>`
    SELECT encode(request_hash, 'hex') AS hash FROM idempotency_keys`;
  const plain = createHash('sha256')
    .update(JSON.stringify(['/operators', request.body]))
    .digest('hex');
  assert.ok(rows.length > 0 && rows.every(({ hash }) => hash !== plain));
});

/** The operations whose body has an `action`, according to openapi.json. */
async function actionRoutes(): Promise<{ method: string; url: string }[]> {
  const { paths, components } = (await call(cast.server, 'GET /openapi.json')).body;
  return Object.entries<Json>(paths).flatMap(([path, operations]) =>
    Object.entries<Json>(operations)
      .filter(([, { requestBody }]) => {
        const { schema } = requestBody?.content?.['application/json'] ?? {};
        const named = components.schemas[schema?.$ref?.split('/').at(-1)];
        return named?.properties?.action?.enum !== undefined;
      })
      .map(([method]) => ({ method: method.toUpperCase(), url: path.replaceAll(/\{(\w+)\}/g, ':$1') })),
  );
}

test('2.7 every operation whose body has an action also accepts it in the query', async (t) => {
  const routes = await actionRoutes();
  assert.ok(routes.length >= 6, JSON.stringify(routes));
  for (const route of routes) {
    await t.test(`${route.method} ${route.url}`, async () => {
      const targets = await makeTargets(cast, route, 'super_manager');
      const request = await validRequest(cast, route, { kind: 'super_manager', targets });
      const { path, token, body, headers } = request;
      const query = new URLSearchParams(body as Record<string, string>).toString();
      const answer = await call(cast.server, `${route.method} ${path}?${query}`, { token, headers });
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    });
  }
});
