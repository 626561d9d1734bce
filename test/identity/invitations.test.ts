import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
import { invite, linkOf, openSession, sessionOf, sessionsPath, statusesOf } from '../support/people/sign-in.ts';
import { expectStatus, makeAccount, makeOperator, makeSite } from '../support/world.ts';

const previewPath = 'POST /operator_authentication/invitations/preview';
const acceptPath = 'POST /operator_authentication/invitations/accept';
const passwordPath = 'PUT /operator_authentication/password';
const current = `GET ${sessionsPath}/current`;
const password = 'a lamp by the river';
const another = 'two boats on a lake';

const { server, account } = await openWorld();

async function makeTestOperator(): Promise<{ id: string; email: string; token: string }> {
  const { id, token } = await makeOperator(server, account, [{ site_id: account.siteId, role: 'operator' }]);
  return { id, token, email: (await read(id)).email };
}

async function read(id: string): Promise<Json> {
  return expectStatus(await call(server, `GET /operators/${id}`, { token: account.admin }), 200).body;
}

async function accept(invitation: string, chosen = password): Promise<Answer> {
  return call(server, acceptPath, { body: { invitation, password: chosen } });
}

async function preview(invitation: string): Promise<Answer> {
  return call(server, previewPath, { body: { invitation } });
}

async function canSignIn(email: string, chosen: string): Promise<boolean> {
  const answer = await call(server, `POST ${sessionsPath}`, { body: { email, password: chosen } });
  assert.ok([201, 401].includes(answer.status), JSON.stringify(answer.body));
  return answer.status === 201;
}

test('an invited operator chooses a password and is signed in', async () => {
  const { id, email } = await makeTestOperator();
  assert.deepEqual((await read(id)).sign_in, { password: false, invited_until: null });
  const made = await call(server, `POST /operators/${id}/invitations`, { token: account.admin });
  const { url, ...listed } = expectStatus(made, 201).body;
  assert.match(url, /^\/console\/invitation#usi_[\w-]{43}$/);
  assert.equal(made.headers.get('location'), `/operators/${id}/invitations/${listed.id}`);
  const days = (Date.parse(listed.expires_at) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7.01, String(days));
  const pending = await call(server, `GET /operators/${id}/invitations`, { token: account.admin });
  assert.deepEqual(expectStatus(pending, 200).body, { invitations: [listed] });
  assert.deepEqual((await read(id)).sign_in, { password: false, invited_until: listed.expires_at });

  const token = url.split('#')[1];
  const { name } = await read(id);
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(expectStatus(await preview(token), 200).body, { name, email, expires_at: listed.expires_at });
  const accepted = expectStatus(await accept(token), 201);
  assert.deepEqual(Object.keys(accepted.body), ['token', 'expires_in', 'operator_id', 'session_id']);
  assert.match(accepted.headers.getSetCookie()[0] ?? '', /; HttpOnly; SameSite=Strict$/);
  assert.equal((await call(server, current, { token: accepted.body.token })).body.operator_id, id);
  assert.deepEqual((await read(id)).sign_in, { password: true, invited_until: null });
  assert.equal(await canSignIn(email, password), true);
  for (const answer of [await preview(token), await accept(token)])
    assert.equal(expectStatus(answer, 404).body.error, 'invitation_unknown');
});

test('with a public URL the invitation is an absolute link', async () => {
  const reached = await startTestServer({ publicUrl: 'https://help.example.com' }, server.database.address);
  try {
    const path = `POST /operators/${account.adminId}/invitations`;
    const { url } = expectStatus(await call(reached, path, { token: account.admin }), 201).body;
    assert.match(url, /^https:\/\/help\.example\.com\/console\/invitation#usi_/);
  } finally {
    await reached[Symbol.asyncDispose]();
  }
});

test('if several people accept an invitation at once, one succeeds and sets the password', async () => {
  const { id, email } = await makeTestOperator();
  const invitation = await invite(server, account, id);
  const chosen = Array.from({ length: 6 }, (_, index) => `${password} ${index}`);
  const answers = await Promise.all(chosen.map(async (each) => accept(invitation, each)));
  assert.deepEqual(statusesOf(answers), [201, 404, 404, 404, 404, 404]);
  const winner = answers.findIndex(({ status }) => status === 201);
  for (const [index, each] of chosen.entries()) assert.equal(await canSignIn(email, each), index === winner, each);
});

test('an invitation ends when it is replaced, withdrawn or expired', async () => {
  const { id } = await makeTestOperator();
  const first = await invite(server, account, id);
  const second = await invite(server, account, id);
  expectStatus(await preview(first), 404);
  expectStatus(await preview(second), 200);
  const path = `/operators/${id}/invitations`;
  const [{ id: pending }] = (await call(server, `GET ${path}`, { token: account.admin })).body.invitations;
  const other = await makeTestOperator();
  const wrong = `DELETE /operators/${other.id}/invitations/${pending}`;
  expectStatus(await call(server, wrong, { token: account.admin }), 404);
  expectStatus(await call(server, `DELETE ${path}/${pending}`, { token: account.admin }), 204);
  expectStatus(await call(server, `DELETE ${path}/${pending}`, { token: account.admin }), 404);
  expectStatus(await accept(second), 404);

  const third = await invite(server, account, id);
  await server.database.sql`UPDATE operator_invitations SET expires_at = now() WHERE operator_id = ${id}`;
  expectStatus(await preview(third), 404);
  expectStatus(await accept(third), 404);
  assert.deepEqual((await call(server, `GET ${path}`, { token: account.admin })).body.invitations, []);
  assert.equal((await read(id)).sign_in.invited_until, null);
});

test('a weak password is refused and the invitation stays valid', async () => {
  const { id, email } = await makeTestOperator();
  const invitation = await invite(server, account, id);
  for (const weak of [
    'short',
    'Password1234',
    'aaaaaaaaaaaaaaa',
    email,
    'x'.repeat(257),
    'é'.normalize('NFD').repeat(6),
  ]) {
    const { details } = expectStatus(await accept(invitation, weak), 422).body;
    assert.deepEqual(
      details.map(({ attribute }: Json) => attribute),
      ['/password'],
      weak,
    );
  }
  const typed = 'cafe\u0301 au lait, twice';
  expectStatus(await accept(invitation, typed), 201);
  assert.equal(await canSignIn(email, typed.normalize('NFC')), true);
  assert.equal(await canSignIn(email, typed.normalize('NFD')), true);
});

test('accepting another invitation replaces the password and ends all sessions', async () => {
  const { id, email, token } = await makeTestOperator();
  const first = sessionOf(expectStatus(await accept(await invite(server, account, id)), 201));
  const invitation = await invite(server, account, id);
  assert.equal(await canSignIn(email, password), true);
  const second = sessionOf(expectStatus(await accept(invitation, another), 201));
  expectStatus(await call(server, current, { token: first.token }), 401);
  expectStatus(await call(server, current, { token: second.token }), 200);
  // Tokens obtained with an API key do not depend on the password.
  expectStatus(await call(server, current, { token }), 200);
  assert.deepEqual([await canSignIn(email, password), await canSignIn(email, another)], [false, true]);
});

test('only those who may create API keys for an operator may invite them', async () => {
  const site = await makeSite(server, account);
  const both = await makeOperator(server, account, [
    { site_id: account.siteId, role: 'operator' },
    { site_id: site, role: 'operator' },
  ]);
  const rules = await makeOperator(server, account, [{ site_id: account.siteId, role: 'super_manager' }]);
  const path = `POST /operators/${both.id}/invitations`;
  expectStatus(await call(server, path, { token: rules.token }), 403);
  expectStatus(await call(server, path, { token: both.token }), 201);
  expectStatus(await call(server, path, { token: account.admin }), 201);
  const stranger = await makeAccount(server);
  expectStatus(await call(server, path, { token: stranger.admin }), 404);
  const { body: limited } = await call(server, 'POST /operator_authentication/tokens', {
    body: { api_key_id: account.key.id, api_key_secret: account.key.secret, site_ids: [account.siteId] },
  });
  for (const request of [`POST /operators/${account.adminId}/invitations`, passwordPath])
    expectStatus(
      await call(server, request, {
        token: limited.token,
        body: request === passwordPath ? { new_password: password } : {},
      }),
      403,
    );
});

test('operators set their first password freely and need the current one to change it', async () => {
  const { id, email, token } = await makeTestOperator();
  const session = await openSession(server, { link: await linkOf(server, id) });
  const change = async (body: Json, by = session.token): Promise<Answer> =>
    call(server, passwordPath, { token: by, body });
  const weak = expectStatus(await change({ new_password: 'Password1234' }), 422).body;
  assert.equal(weak.details[0].attribute, '/new_password');
  expectStatus(await change({ new_password: password }), 204);
  assert.equal(await canSignIn(email, password), true);

  assert.equal(
    expectStatus(await change({ new_password: another }), 422).body.details[0].attribute,
    '/current_password',
  );
  const wrong = expectStatus(await change({ current_password: another, new_password: another }), 403);
  assert.equal(wrong.body.error, 'wrong_password');
  const [other, link, invitation] = [
    await openSession(server, { email, password }),
    await linkOf(server, id),
    await invite(server, account, id),
  ];
  expectStatus(await change({ current_password: password, new_password: another }), 204);
  expectStatus(await call(server, current, { token: session.token }), 200);
  expectStatus(await call(server, current, { token }), 200);
  expectStatus(await call(server, current, { token: other.token }), 401);
  expectStatus(await call(server, `POST ${sessionsPath}`, { body: { link } }), 401);
  expectStatus(await preview(invitation), 404);
  assert.deepEqual([await canSignIn(email, password), await canSignIn(email, another)], [false, true]);
});

test('of two concurrent password changes, one succeeds', async () => {
  const { id, email } = await makeTestOperator();
  const { token } = sessionOf(expectStatus(await accept(await invite(server, account, id)), 201));
  const chosen = [`${another} 1`, `${another} 2`];
  const answers = await Promise.all(
    chosen.map(async (new_password) =>
      call(server, passwordPath, { token, body: { current_password: password, new_password } }),
    ),
  );
  assert.deepEqual(statusesOf(answers), [204, 403]);
  for (const [index, each] of chosen.entries())
    assert.equal(await canSignIn(email, each), answers[index]?.status === 204);
});

test('operators with a password cannot invite themselves', async () => {
  const { id, token } = await makeTestOperator();
  // An operator without a password may invite themselves.
  const own = expectStatus(await call(server, `POST /operators/${id}/invitations`, { token }), 201).body;
  expectStatus(await accept(own.url.split('#')[1]), 201);
  const refused = expectStatus(await call(server, `POST /operators/${id}/invitations`, { token }), 403).body;
  assert.match(refused.detail, /PUT \/operator_authentication\/password/);
  expectStatus(await call(server, `POST /operators/${id}/invitations`, { token: account.admin }), 201);
});

test('accepting an invitation invalidates earlier one-time links', async () => {
  const { id } = await makeTestOperator();
  const link = await linkOf(server, id);
  expectStatus(await accept(await invite(server, account, id)), 201);
  expectStatus(await call(server, `POST ${sessionsPath}`, { body: { link } }), 401);
});

test('an operator who is invited while being disabled keeps no invitation', async () => {
  for (let time = 0; time < 10; time += 1) {
    const { id } = await makeTestOperator();
    const [made, disabled] = await Promise.all([
      call(server, `POST /operators/${id}/invitations`, { token: account.admin }),
      call(server, `PATCH /operators/${id}`, { token: account.admin, body: { enabled: false } }),
    ]);
    expectStatus(disabled, 200);
    assert.ok([201, 409].includes(made.status), JSON.stringify(made.body));
    const { sql } = server.database;
    assert.equal((await sql`SELECT 1 FROM operator_invitations WHERE operator_id = ${id}`).length, 0);
  }
});

test('concurrent sign-ins by all methods do not deadlock', async () => {
  const { id, email } = await makeTestOperator();
  const { token, cookie } = sessionOf(expectStatus(await accept(await invite(server, account, id)), 201));
  for (let time = 0; time < 3; time += 1) {
    const [link, invitation] = [await linkOf(server, id), await invite(server, account, id)];
    const answers = await Promise.all([
      call(server, `POST ${sessionsPath}`, { body: { link }, headers: { cookie } }),
      call(server, `POST ${sessionsPath}`, { body: { email, password } }),
      call(server, passwordPath, { token, body: { current_password: password, new_password: password } }),
      accept(invitation),
      call(server, `POST /operators/${id}/invitations`, { token: account.admin }),
    ]);
    for (const { status, body } of answers) assert.ok(status < 500, JSON.stringify(body));
  }
});
