import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFeed } from '../support/people/feed.ts';
import { fileForm, uploadFile, startFileEngagement } from '../support/people/files.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, until, type Json } from '../support/server.ts';
import {
  expectStatus,
  makeAccessToken,
  makeAccount,
  makeOperator,
  makeSite,
  signIn,
  type TestOperator,
} from '../support/world.ts';

const session = 'GET /operator_authentication/sessions/current';

const { server, account } = await openWorld();

const manager = async (): Promise<TestOperator> =>
  makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);

async function listOf(operatorId: string): Promise<Json[]> {
  const listed = await call(server, `GET /operators/${operatorId}/access_tokens`, { token: account.admin });
  return expectStatus(listed, 200).body.access_tokens;
}

test('an access token is shown once, is listed without its secret and starts with a prefix', async () => {
  const { id: operatorId } = await manager();
  const body = { name: 'Bridge', expires_at: '2099-01-01T00:00:00+02:00' };
  const created = await call(server, `POST /operators/${operatorId}/access_tokens`, { token: account.admin, body });
  const { id, token, ...rest } = expectStatus(created, 201).body;
  assert.equal(created.headers.get('location'), `/operators/${operatorId}/access_tokens/${id}`);
  assert.match(token, /^ust_[\da-f-]{36}\.[\w-]{43}$/);
  assert.deepEqual(Object.keys(rest), ['name', 'created_at', 'expires_at', 'last_used_at']);
  assert.equal(rest.expires_at, '2098-12-31T22:00:00.000Z');
  assert.deepEqual(await listOf(operatorId), [{ id, ...rest }]);
});

test('an access token that is wrong in any part is refused', async () => {
  const { id: operatorId } = await manager();
  const { id, token } = await makeAccessToken(server, account, operatorId);
  const other = await makeAccessToken(server, account, operatorId);
  const [head = '', secret = ''] = token.split('.');
  const [, foreign = ''] = other.token.split('.');
  const guesses = [
    `${head}.${foreign}`,
    `${head}.`,
    head,
    `${token}x`,
    `${token}.x`,
    secret,
    id,
    'ust_',
    'ust_.',
    'ust_x.y',
    // The cache is keyed by lower-case ids: a deleted token in another spelling would stay cached.
    `${head.toUpperCase().replace('UST_', 'ust_')}.${secret}`,
  ];
  for (const guess of guesses) expectStatus(await call(server, session, { token: guess }), 401);
  for (const header of [`Basic ${token}`, `ApplicationToken ${token}`])
    expectStatus(await call(server, session, { token: header }), 401);
  expectStatus(await call(server, session, { token }), 200);
});

test('expires_at must be in the future, and the access token stops working at that time', async () => {
  const { id: operatorId } = await manager();
  const path = `POST /operators/${operatorId}/access_tokens`;
  for (const [body, attribute] of [
    [{ name: 'Late', expires_at: '2001-01-01T00:00:00Z' }, '/expires_at'],
    [{ name: 'Late', expires_at: '+012345-01-01T00:00:00Z' }, '/expires_at'],
    [{ name: 'Late', expires_at: 'tomorrow' }, '/expires_at'],
    [{ name: '' }, '/name'],
    [{}, '/name'],
  ] as const) {
    const refused = expectStatus(await call(server, path, { token: account.admin, body }), 422);
    assert.deepEqual(
      refused.body.details.map((each: Json) => each.attribute),
      [attribute],
    );
  }
  const expires_at = new Date(Date.now() + 1_500).toISOString();
  const { token } = await makeAccessToken(server, account, operatorId, { expires_at });
  assert.equal(expectStatus(await call(server, session, { token }), 200).body.expires_at, expires_at);
  await until(async () => (await call(server, session, { token })).status === 401, 5_000);
  assert.ok(Date.now() >= Date.parse(expires_at));
  assert.deepEqual(await listOf(operatorId), []);
});

test('an access token has the current roles of its operator and does not work while they are disabled', async () => {
  const { id: operatorId } = await manager();
  const { token } = await makeAccessToken(server, account, operatorId);
  const read = async (): Promise<number> => (await call(server, `GET /sites/${account.siteId}`, { token })).status;
  const change = async (body: Json): Promise<unknown> =>
    expectStatus(await call(server, `PATCH /operators/${operatorId}`, { token: account.admin, body }), 200);
  assert.equal(await read(), 200);
  await change({ assignments: [{ site_id: account.siteId, role: 'operator' }] });
  assert.equal(await read(), 403);
  await change({ assignments: [] });
  assert.equal(await read(), 404);
  await change({ enabled: false });
  assert.equal(await read(), 401);
  // Like API keys, access tokens work again when their operator is enabled.
  await change({ enabled: true, assignments: [{ site_id: account.siteId, role: 'manager' }] });
  assert.equal(await read(), 200);
});

test('a deleted access token stops working in every process, and its feeds end', async () => {
  const { id: operatorId } = await manager();
  const { id, token } = await makeAccessToken(server, account, operatorId);
  const kept = await makeAccessToken(server, account, operatorId);
  const other = await startTestServer({}, server.database.address);
  try {
    for (const each of [server, other]) expectStatus(await call(each, session, { token }), 200);
    const headers = { authorization: `Token ${token}` };
    const feeds = await Promise.all([server, other].map(async (each) => openFeed(each, { token, headers })));
    await using staying = await openFeed(other, { token: kept.token });
    const path = `/operators/${operatorId}/access_tokens/${id}`;
    expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 204);
    expectStatus(await call(server, session, { token }), 401);
    await until(async () => (await call(other, session, { token })).status === 401, 1_000);
    await Promise.all(feeds.map(async ({ ended }) => ended));
    expectStatus(await call(other, session, { token: kept.token }), 200);
    assert.equal(await Promise.race([staying.ended.then(() => 'ended'), Promise.resolve('open')]), 'open');
    expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 404);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('a deleted access token is refused even by a process that gets no change notifications', async () => {
  const { id: operatorId } = await manager();
  const { id, token } = await makeAccessToken(server, account, operatorId);
  const other = await startTestServer({}, server.database.address);
  try {
    expectStatus(await call(other, session, { token }), 200);
    await other.changes.close();
    const path = `/operators/${operatorId}/access_tokens/${id}`;
    expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 204);
    expectStatus(await call(other, session, { token }), 401);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('signing out with an access token deletes it', async () => {
  const { id: operatorId, token: signed } = await manager();
  const { token } = await makeAccessToken(server, account, operatorId);
  expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
  expectStatus(await call(server, session, { token }), 401);
  assert.deepEqual(await listOf(operatorId), []);
  expectStatus(await call(server, session, { token: signed }), 200);
  // Signing out of a session is not audited.
  expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token: signed }), 204);
  const log = await call(server, `GET /audit_log?actor_id=${operatorId}`, { token: account.admin });
  const entries: Json[] = expectStatus(log, 200).body.audit_log;
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['access_token.delete'],
  );
});

test('an access token has the same permissions as a token obtained with an API key', async () => {
  const own = await makeAccount(server);
  const { token } = await makeAccessToken(server, own, own.adminId);
  const key = expectStatus(await call(server, `POST /operators/${own.adminId}/api_keys`, { token }), 201).body;
  await signIn(server, key);
  await makeAccessToken(server, { admin: token }, own.adminId);
  await makeSite(server, { ...own, admin: token });
  const { audit_log: entries } = (await call(server, 'GET /audit_log', { token: own.admin })).body;
  const [{ id }] = (await call(server, `GET /operators/${own.adminId}/access_tokens`, { token })).body.access_tokens;
  assert.deepEqual(
    entries.map((entry: Json) => [entry.action, entry.via]),
    [
      ['site.create', id],
      ['access_token.create', id],
      ['api_key.create', id],
      ['access_token.create', own.key.id],
    ],
  );
});

test('an access token can download files', async () => {
  const scanning = await startTestServer({ scanner: { kind: 'none' } });
  try {
    const talk = await startFileEngagement(scanning);
    const id = await uploadFile(scanning, talk, fileForm('Hello'));
    const { token } = await makeAccessToken(scanning, talk.account, talk.operator.id);
    const file = await call(scanning, `GET ${talk.path}/${id}`, { token: `Token ${token}` });
    assert.equal(expectStatus(file, 200).body, 'Hello');
  } finally {
    await scanning[Symbol.asyncDispose]();
  }
});

test('D9.9 an operator can have 20 unexpired access tokens, even when they are created concurrently', async () => {
  const own = await makeAccount(server);
  const ask = async (expires_at: string | null): Promise<number> => {
    const body = { name: 'Bridge', expires_at };
    return (await call(server, `POST /operators/${own.adminId}/access_tokens`, { token: own.admin, body })).status;
  };
  const soon = new Date(Date.now() + 60_000).toISOString();
  const statuses = await Promise.all(Array.from({ length: 30 }, async () => ask(soon)));
  assert.equal(statuses.filter((status) => status === 201).length, 20);
  assert.equal(statuses.filter((status) => status === 409).length, 10);
  await server.database.sql`
    UPDATE operator_access_tokens SET expires_at = now() - interval '1 second' WHERE operator_id = ${own.adminId}`;
  assert.equal(await ask(null), 201);
});

test('last_used_at is stored when the process stops', async () => {
  const { id: operatorId } = await manager();
  const used = await makeAccessToken(server, account, operatorId);
  const unused = await makeAccessToken(server, account, operatorId);
  const other = await startTestServer({}, server.database.address);
  // The first request authenticates by the database, the second by the cache. Both mark the token as used.
  for (let count = 0; count < 2; count += 1) expectStatus(await call(other, session, { token: used.token }), 200);
  await other[Symbol.asyncDispose]();
  const byId = new Map((await listOf(operatorId)).map((each) => [each.id, each.last_used_at]));
  assert.ok(Math.abs(Date.parse(byId.get(used.id)) - Date.now()) < 60_000);
  assert.equal(byId.get(unused.id), null);
});

test('the secret of an access token is stored as a digest and never logged', async () => {
  const { id: operatorId } = await manager();
  const { token } = await makeAccessToken(server, account, operatorId);
  expectStatus(await call(server, session, { token }), 200);
  expectStatus(await call(server, session, { token: `${token}x` }), 401);
  const rows = await server.database.sql<{ row: string }[]>`
    SELECT to_jsonb(t)::text || encode(secret_digest, 'escape') || encode(secret_digest, 'base64') AS row
      FROM operator_access_tokens t WHERE operator_id = ${operatorId}`;
  const [, secret = ''] = token.split('.');
  assert.equal(rows.length, 1);
  for (const text of [rows[0]?.row ?? '', server.logged.join('\n')]) {
    assert.ok(text.length > 100);
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('hex')));
  }
});
