import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rotateSigningKey } from '../../packages/server/src/identity/signing-keys.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, until } from '../support/server.ts';
import {
  expectStatus,
  makeAccount,
  makeApplicationToken,
  makeOperator,
  makeVisitor,
  signIn,
} from '../support/world.ts';

const session = 'GET /operator_authentication/sessions/current';

const { server, account } = await openWorld();

test('D9.2 an API key gives a token for an hour, with the operator and their site roles', async () => {
  const answer = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: account.key.id, api_key_secret: account.key.secret },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ['token', 'expires_in']);
  assert.equal(answer.body.expires_in, 3_600);
  const current = await call(server, session, { token: answer.body.token });
  assert.equal(current.body.operator_id, account.adminId);
  assert.deepEqual(current.body.site_roles, { [account.siteId]: 'super_manager' });
  const seconds = (Date.parse(current.body.expires_at) - Date.now()) / 1000;
  assert.ok(seconds > 3_590 && seconds <= 3_600, String(seconds));
  const same = await call(server, 'POST /sites/tokens', {
    body: { api_key_id: account.key.id, api_key_secret: account.key.secret },
  });
  assert.deepEqual(Object.keys(same.body), ['access_token', 'expires_in']);
  expectStatus(await call(server, session, { token: same.body.access_token }), 200);
});

test('an unknown key, a wrong secret and a disabled operator get the same response', async () => {
  const operator = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  const { body: key } = await call(server, `POST /operators/${operator.id}/api_keys`, { token: account.admin });
  expectStatus(await call(server, `DELETE /operators/${operator.id}`, { token: account.admin }), 204);
  const attempts = [
    { api_key_id: 'unknown', api_key_secret: account.key.secret },
    { api_key_id: account.key.id, api_key_secret: `${account.key.secret}x` },
    { api_key_id: key.id, api_key_secret: key.secret },
  ];
  const answers = await Promise.all(
    attempts.map(async (body) => call(server, 'POST /operator_authentication/tokens', { body })),
  );
  for (const answer of answers) {
    assert.equal(answer.status, 401);
    assert.equal(answer.body.error, 'invalid_credentials');
    assert.equal(answer.body.detail, answers[0]?.body.detail);
  }
});

test('revocation takes effect at once', async (t) => {
  const manager = async () => makeOperator(server, account, [{ site_id: account.siteId, role: 'manager' }]);
  const read = `GET /sites/${account.siteId}`;

  await t.test('signing out revokes only the token of the request', async () => {
    const token = await signIn(server, account.key);
    expectStatus(await call(server, session, { token }), 200);
    expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
    expectStatus(await call(server, session, { token }), 401);
    expectStatus(await call(server, session, { token: account.admin }), 200);
  });
  await t.test('deleting an API key revokes its tokens', async () => {
    const { id, token, keyId } = await manager();
    expectStatus(await call(server, read, { token }), 200);
    expectStatus(await call(server, `DELETE /operators/${id}/api_keys/${keyId}`, { token: account.admin }), 204);
    expectStatus(await call(server, read, { token }), 401);
  });
  await t.test('disabling an operator suspends their tokens until they are enabled again', async () => {
    const { id, token } = await manager();
    expectStatus(await call(server, read, { token }), 200);
    expectStatus(await call(server, `DELETE /operators/${id}`, { token: account.admin }), 204);
    expectStatus(await call(server, read, { token }), 401);
    expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: { enabled: true } }), 200);
    expectStatus(await call(server, read, { token }), 200);
  });
  await t.test('changing a role changes what the token may do', async () => {
    const { id, token } = await manager();
    expectStatus(await call(server, read, { token }), 200);
    const assignments = [{ site_id: account.siteId, role: 'operator' }];
    expectStatus(await call(server, `PATCH /operators/${id}`, { token: account.admin, body: { assignments } }), 200);
    expectStatus(await call(server, read, { token }), 403);
    expectStatus(
      await call(server, `PATCH /operators/${id}`, { token: account.admin, body: { assignments: [] } }),
      200,
    );
    expectStatus(await call(server, read, { token }), 404);
  });
  await t.test('deleting an application token revokes it', async () => {
    const { id, header } = await makeApplicationToken(server, account, 'publishable');
    expectStatus(await call(server, 'POST /visitors', { token: header }), 200);
    expectStatus(
      await call(server, `DELETE /sites/${account.siteId}/application_tokens/${id}`, { token: account.admin }),
      204,
    );
    expectStatus(await call(server, 'POST /visitors', { token: header }), 401);
  });
});

test('publishable tokens are listed with their text, secret ones without, and the audit log has neither', async () => {
  const own = await makeAccount(server);
  const publishable = await makeApplicationToken(server, own, 'publishable');
  const secret = await makeApplicationToken(server, own, 'secret');
  const path = `GET /sites/${own.siteId}/application_tokens`;
  const { application_tokens: listed } = expectStatus(await call(server, path, { token: own.admin }), 200).body;
  assert.deepEqual(
    listed.map(({ id, token }: { id: string; token: string | null }) => [id, token]),
    [
      [publishable.id, publishable.header.replace('ApplicationToken ', '')],
      [secret.id, null],
    ],
  );
  const { token } = await makeOperator(server, own, [{ site_id: own.siteId, role: 'manager' }]);
  expectStatus(await call(server, path, { token }), 403);
  const log = JSON.stringify(expectStatus(await call(server, 'GET /audit_log', { token: own.admin }), 200).body);
  assert.ok(log.includes('application_token.create'));
  for (const { header } of [publishable, secret]) assert.ok(!log.includes(header.split('.')[1] ?? ''));
});

test('a token revoked by one process is refused by another', async () => {
  const other = await startTestServer({}, server.database.address);
  try {
    const token = await signIn(server, account.key);
    expectStatus(await call(other, session, { token }), 200);
    expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
    await until(async () => (await call(other, session, { token })).status === 401, 1_000);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('without change notifications nothing is answered from the cache', async () => {
  const other = await startTestServer({}, server.database.address);
  try {
    const token = await signIn(server, account.key);
    expectStatus(await call(other, session, { token }), 200);
    await other.changes.close();
    expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
    expectStatus(await call(other, session, { token }), 401);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('change notifications resume after the connection is lost', async () => {
  const other = await startTestServer({}, server.database.address);
  try {
    await server.database.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
    await until(() => !other.changes.live);
    const token = await signIn(server, account.key);
    expectStatus(await call(other, session, { token }), 200);
    await until(() => other.changes.live);
    expectStatus(await call(other, session, { token }), 200);
    expectStatus(await call(server, 'DELETE /operator_authentication/sessions/current', { token }), 204);
    await until(async () => (await call(other, session, { token })).status === 401, 1_000);
  } finally {
    await other[Symbol.asyncDispose]();
  }
});

test('rotating the signing key keeps old tokens valid or revokes them', async () => {
  const old = await signIn(server, account.key);
  await rotateSigningKey(server.database.sql, 'keep');
  await server.changes.caughtUp();
  expectStatus(await call(server, session, { token: old }), 200);
  const renewed = await signIn(server, account.key);
  assert.notEqual(kid(renewed), kid(old));
  await rotateSigningKey(server.database.sql, 'revoke');
  await server.changes.caughtUp();
  expectStatus(await call(server, session, { token: old }), 401);
  expectStatus(await call(server, session, { token: renewed }), 401);
  const account2 = await makeAccount(server);
  expectStatus(await call(server, session, { token: account2.admin }), 200);
});

function kid(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
}

test('a tampered token is refused', async () => {
  const own = await makeAccount(server);
  const [head = '', payload = '', signature = ''] = own.admin.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, account: account.adminId })).toString('base64url');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const hmac = Buffer.from(JSON.stringify({ alg: 'HS256', kid: kid(own.admin) })).toString('base64url');
  for (const token of [
    `${head}.${forged}.${signature}`,
    `${none}.${payload}.`,
    `${hmac}.${payload}.${signature}`,
    `${head}.${payload}`,
    head,
    '..',
    'a.b.c',
  ]) {
    expectStatus(await call(server, session, { token }), 401);
  }
});

test('a visitor’s token is renewed with itself or with a secret application token of the visitor’s site', async () => {
  const own = await makeAccount(server);
  const visitor = await makeVisitor(server, own);
  const renewed = await call(server, `POST /visitors/${visitor.id}/token`, { token: visitor.token });
  assert.deepEqual(Object.keys(expectStatus(renewed, 200).body), ['id', 'access_token', 'expires_in']);
  assert.equal(renewed.body.expires_in, 86_400);
  expectStatus(
    await call(server, `GET /sites/${own.siteId}/visitors/${visitor.id}`, { token: renewed.body.access_token }),
    200,
  );
  const secret = await makeApplicationToken(server, own, 'secret');
  expectStatus(await call(server, `POST /visitors/${visitor.id}/token`, { token: secret.header }), 200);
  const foreign = await makeApplicationToken(server, await makeAccount(server), 'secret');
  expectStatus(await call(server, `POST /visitors/${visitor.id}/token`, { token: foreign.header }), 404);
  const other = await makeVisitor(server, own);
  expectStatus(await call(server, `POST /visitors/${visitor.id}/token`, { token: other.token }), 404);
});

test('secrets are shown once, stored hashed, and never logged', async () => {
  const own = await makeAccount(server);
  const { body: key } = await call(server, `POST /operators/${own.adminId}/api_keys`, { token: own.admin });
  const application = await makeApplicationToken(server, own, 'secret');
  const visitor = await makeVisitor(server, own);
  await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: key.id, api_key_secret: key.secret },
  });
  await call(server, 'POST /visitors', { token: application.header });
  await call(server, 'POST /operator_authentication/tokens', { body: `{"api_key_secret":"${key.secret}"` });
  const listed = await call(server, `GET /operators/${own.adminId}/api_keys`, { token: own.admin });
  assert.deepEqual(Object.keys(listed.body.api_keys[0]), ['id', 'created_at']);
  const tokens = await call(server, `GET /sites/${own.siteId}/application_tokens`, { token: own.admin });
  const [listedToken] = tokens.body.application_tokens;
  assert.deepEqual(Object.keys(listedToken), ['id', 'kind', 'created_at', 'token']);
  assert.equal(listedToken.token, null);

  const applicationSecret = application.header.split('.').at(-1) ?? '';
  const secrets = [key.secret, own.key.secret, own.admin, visitor.token, applicationSecret];
  const rows = await server.database.sql`
    SELECT to_jsonb(k)::text AS row FROM api_keys k
    UNION ALL SELECT to_jsonb(a)::text FROM application_tokens a
    UNION ALL SELECT to_jsonb(v)::text FROM visitors v`;
  const stored = rows.map(({ row }) => row).join('\n');
  const logged = server.logged.join('\n');
  assert.match(stored, /scrypt\$/);
  assert.ok(logged.length > 1_000);
  for (const secret of secrets) {
    assert.ok(!stored.includes(secret), 'a secret is stored');
    assert.ok(!logged.includes(secret), 'a secret is logged');
  }
});

test('D9.9 an operator can have 20 API keys, even when they are created concurrently', async () => {
  const own = await makeAccount(server);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async () =>
      call(server, `POST /operators/${own.adminId}/api_keys`, { token: own.admin }),
    ),
  );
  assert.equal(answers.filter((answer) => answer.status === 201).length, 19);
  assert.equal(answers.find((answer) => answer.status !== 201)?.body.error, 'too_many');
});
