import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { call, startTestServer, type Answer, type Json, type TestServer } from './support/server.ts';
import { exchange, linkOf, openSession, sessionsPath } from './support/sign-in.ts';
import { expectStatus, makeAccount, makeOperator, signIn as keySignIn, type TestAccount } from './support/world.ts';

const signIn = `POST ${sessionsPath}`;
const passwordPath = 'PUT /operator_authentication/password';
const password = 'a lamp by the river';

let server: TestServer;
let account: TestAccount;

before(async () => {
  server = await startTestServer();
  account = await makeAccount(server);
});
after(async () => server[Symbol.asyncDispose]());

async function statusOf(token: string): Promise<number> {
  return (await call(server, `GET ${sessionsPath}/current`, { token })).status;
}

test('an operator has fifty sessions at most: the one not used for longest goes', async () => {
  const { id } = await makeOperator(server, account, []);
  const first = await openSession(server, { link: await linkOf(server, id) });
  const links = await Promise.all(Array.from({ length: 55 }, async () => linkOf(server, id)));
  const later = await Promise.all(links.map(async (link) => openSession(server, { link })));
  const statuses = await Promise.all(later.map(async ({ token }) => statusOf(token)));
  assert.equal(statuses.filter((status) => status === 200).length, 50);
  assert.equal(await statusOf(first.token), 401);
});

test('attempts are limited by address, and passwords by whose they are', async () => {
  const limited = await startTestServer({ rateLimitSignIn: 12 }, server.database.address);
  try {
    const attempt = async (body: Json): Promise<Answer> => call(limited, signIn, { body });
    const email = `${randomUUID()}@test`;
    expectStatus(await attempt({ email, password }), 401);
    expectStatus(await attempt({ email: email.toUpperCase(), password }), 401);
    const third = expectStatus(await attempt({ email, password }), 429);
    assert.ok(Number(third.headers.get('retry-after')) > 0);
    expectStatus(await attempt({ email: `other-${email}`, password }), 401);
    for (let taken = 4; taken < 12; taken += 1) expectStatus(await attempt({ link: 'x' }), 401);
    const { cookie } = await openSession(server, { link: await linkOf(server, account.adminId) });
    const later = [
      await attempt({ link: await linkOf(server, account.adminId) }),
      await call(limited, 'POST /operator_authentication/invitations/preview', { body: { invitation: 'x' } }),
      await call(limited, 'POST /operator_authentication/invitations/accept', { body: { invitation: 'x', password } }),
      await call(limited, exchange, { headers: { cookie: cookie.replace(/.{20}$/, 'A'.repeat(20)) } }),
    ];
    assert.deepEqual(
      later.map(({ status }) => status),
      [429, 429, 429, 429],
    );
    // Those who are signed in work on.
    expectStatus(await call(limited, exchange, { headers: { cookie } }), 200);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test('the current password is not guessed at leisure by who has found a token', async () => {
  const limited = await startTestServer({ rateLimitSignIn: 12 }, server.database.address);
  try {
    const { token } = await makeOperator(server, account, []);
    expectStatus(await call(server, passwordPath, { token, body: { new_password: password } }), 204);
    const body = { current_password: `${password}!`, new_password: `${password}?` };
    for (const status of [403, 403, 429]) expectStatus(await call(limited, passwordPath, { token, body }), status);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test('passwords are checked a few at a time, and who comes when there are too many is told to come again', async () => {
  const email = `${randomUUID()}@test`;
  const answers = await Promise.all(
    Array.from({ length: 30 }, async () => call(server, signIn, { body: { email, password } })),
  );
  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0 && busy.length <= 8, String(busy.length));
  for (const answer of busy) {
    assert.equal(answer.body.error, 'too_busy');
    assert.equal(answer.headers.get('retry-after'), '5');
  }
  assert.equal(answers.filter(({ status }) => status === 401).length, 30 - busy.length);
  assert.ok(await keySignIn(server, account.key));
  expectStatus(await call(server, signIn, { body: { email, password } }), 401);
});
