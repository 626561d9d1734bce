import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { digestOf } from '../../packages/server/src/identity/secrets.ts';
import { useRealHashes } from '../support/people/cheap-hashes.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json, type TestServer } from '../support/server.ts';
import { exchange, invite, linkOf, openSession, sessionsPath, statusesOf } from '../support/people/sign-in.ts';
import { expectStatus, makeOperator, signIn as keySignIn } from '../support/world.ts';

const signIn = `POST ${sessionsPath}`;
const passwordPath = 'PUT /operator_authentication/password';
const password = 'a lamp by the river';

const { server, account } = await openWorld();

async function statusOf(token: string): Promise<number> {
  return (await call(server, `GET ${sessionsPath}/current`, { token })).status;
}

test('D9.9 an operator can have 50 sessions; a further one replaces the least recently used', async () => {
  const { id } = await makeOperator(server, account, []);
  const first = await openSession(server, { link: await linkOf(server, id) });
  const links = await Promise.all(Array.from({ length: 55 }, async () => linkOf(server, id)));
  const later = await Promise.all(links.map(async (link) => openSession(server, { link })));
  const statuses = await Promise.all(later.map(async ({ token }) => statusOf(token)));
  assert.equal(statuses.filter((status) => status === 200).length, 50);
  assert.equal(await statusOf(first.token), 401);
});

test('sign-in attempts are limited per client address, wrong passwords per client address and e-mail address', async () => {
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
    // Existing sessions are not affected.
    expectStatus(await call(limited, exchange, { headers: { cookie } }), 200);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

/**
 * A server that trusts X-Forwarded-For and allows four attempts per client address. For one e-mail address it allows one wrong
 * password from one client address and four from all together. The limits are low because checking a password is slow.
 */
async function startLimited(): Promise<TestServer> {
  return startTestServer({ rateLimitSignIn: 4, trustProxy: true }, server.database.address);
}

interface Attempt {
  readonly email: string;
  readonly password: string;
  readonly from: string;
  readonly cookie?: string;
}

async function attempt(on: TestServer, { email, password: given, from, cookie }: Attempt): Promise<Answer> {
  const headers = { 'x-forwarded-for': from, ...(cookie === undefined ? {} : { cookie }) };
  return call(on, signIn, { body: { email, password: given }, headers });
}

/** An operator with a password. */
async function makeWithPassword(): Promise<{ id: string; email: string; token: string }> {
  const { id, token } = await makeOperator(server, account, []);
  expectStatus(await call(server, passwordPath, { token, body: { new_password: password } }), 204);
  const { email } = expectStatus(await call(server, `GET /operators/${id}`, { token }), 200).body;
  return { id, email, token };
}

function deviceOf(answer: Answer): string {
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('usher_device='));
  assert.ok(cookie, 'the response sets the device cookie');
  return cookie;
}

/** Tries wrong passwords, each from another address. */
async function guessFromEverywhere(on: TestServer, email: string, { times }: { times: number }): Promise<number[]> {
  const answers = await Promise.all(
    Array.from({ length: times }, async (_, address) =>
      attempt(on, { email, password: `${password}!`, from: `198.51.100.${address}` }),
    ),
  );
  return statusesOf(answers);
}

function secretOf(answer: Answer): string {
  return deviceOf(expectStatus(answer, 201)).split(';', 1)[0] ?? '';
}

test('wrong passwords from one address do not lock out the owner at another address', async () => {
  const limited = await startLimited();
  try {
    const { email } = await makeWithPassword();
    for (const status of [401, 429, 429])
      expectStatus(await attempt(limited, { email, password: `${password}!`, from: '192.0.2.1' }), status);
    // A correct password does not count.
    for (let times = 0; times < 2; times += 1)
      expectStatus(await attempt(limited, { email, password, from: '192.0.2.2' }), 201);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test('wrong passwords from many addresses are limited together, but do not lock out a known browser', async () => {
  const limited = await startLimited();
  try {
    const { email } = await makeWithPassword();
    const cookie = secretOf(await attempt(limited, { email, password, from: '192.0.2.9' }));
    // The limit is the same whether or not the operator exists.
    const statuses = [...Array<number>(4).fill(401), 429, 429];
    assert.deepEqual(await guessFromEverywhere(limited, `${randomUUID()}@test`, { times: 6 }), statuses);
    assert.deepEqual(await guessFromEverywhere(limited, email, { times: 6 }), statuses);
    const fromNewBrowser = await attempt(limited, { email, password, from: '203.0.113.1' });
    assert.match(
      expectStatus(fromNewBrowser, 429).body.detail,
      /browser that you have used before.*try again in \d+ s/,
    );
    const known = { email, password, from: '203.0.113.1', cookie };
    const next = secretOf(await attempt(limited, known));
    // Each sign-in replaces the secret of the browser, so a copied secret is useless.
    expectStatus(await attempt(limited, { ...known, from: '203.0.113.2' }), 429);
    expectStatus(await attempt(limited, { ...known, cookie: next, from: '203.0.113.3' }), 201);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test('a known browser has its own limit, and is known only for operators who signed in with it', async () => {
  const limited = await startLimited();
  try {
    const [ann, bob] = [await makeWithPassword(), await makeWithPassword()];
    const cookie = secretOf(await attempt(limited, { email: ann.email, password, from: '192.0.2.1' }));
    const wrong = { password: `${password}!`, cookie };
    for (const [address, status] of [401, 429, 429].entries())
      expectStatus(await attempt(limited, { ...wrong, email: ann.email, from: `198.51.100.${address}` }), status);
    // For another operator the browser is unknown, so the limit of its address applies.
    for (const status of [401, 429])
      expectStatus(await attempt(limited, { ...wrong, email: bob.email, from: '192.0.2.7' }), status);
    // After two operators have signed in, the browser is known for both.
    const shared = secretOf(await attempt(limited, { email: bob.email, password, from: '192.0.2.8', cookie }));
    await guessFromEverywhere(limited, bob.email, { times: 4 });
    const ours = { email: bob.email, password, from: '192.0.2.9' };
    expectStatus(await attempt(limited, ours), 429);
    const later = secretOf(await attempt(limited, { ...ours, cookie: shared }));
    const [row] = await server.database.sql<{ known: number }[]>`
      SELECT count(*)::integer AS known FROM known_devices WHERE secret_digest = ${digestOf(later.split('=')[1] ?? '')}`;
    assert.equal(row?.known, 2);
  } finally {
    await limited[Symbol.asyncDispose]();
  }
});

test('the device cookie is hidden from scripts and other sites, and only its digest is stored', async () => {
  const { id, email } = await makeWithPassword();
  const cookie = deviceOf(expectStatus(await call(server, signIn, { body: { email, password } }), 201));
  assert.match(
    cookie,
    /^usher_device=[\w-]{43}; Max-Age=15552000; Path=\/operator_authentication\/sessions; HttpOnly; SameSite=Strict$/,
  );
  const secure = await call(server, signIn, {
    body: { email, password },
    headers: { origin: 'https://x', 'sec-fetch-site': 'same-origin' },
  });
  assert.match(deviceOf(secure), /; Secure$/);
  const secret = /=([\w-]{43});/.exec(cookie)?.[1] ?? '';
  const rows = await server.database.sql<{ row: string }[]>`
    SELECT row_to_json(d)::text AS row FROM known_devices d WHERE operator_id = ${id}`;
  assert.equal(rows.length, 2);
  assert.ok(rows.every(({ row }) => !row.includes(secret)));
  // The device cookie gives no access.
  const [device = ''] = cookie.split(';', 1);
  expectStatus(await call(server, exchange, { headers: { cookie: device } }), 401);
  expectStatus(
    await call(server, signIn, { body: { email, password: `${password}!` }, headers: { cookie: device } }),
    401,
  );
});

test('known browsers are forgotten after a password change, signing out everywhere or disabling the operator', async () => {
  const countDevices = async (id: string): Promise<number> => {
    const rows = await server.database.sql`SELECT 1 FROM known_devices WHERE operator_id = ${id}`;
    return rows.length;
  };
  const body = { current_password: password, new_password: `${password} at night` };
  for (const forget of [
    async (token: string) => call(server, passwordPath, { token, body }),
    async (token: string) => call(server, `DELETE ${sessionsPath}`, { token }),
    async (_: string, id: string) => call(server, `DELETE /operators/${id}`, { token: account.admin }),
  ]) {
    const { id, email, token } = await makeWithPassword();
    expectStatus(await call(server, signIn, { body: { email, password } }), 201);
    assert.equal(await countDevices(id), 1);
    expectStatus(await forget(token, id), 204);
    assert.equal(await countDevices(id), 0);
  }
  const { id, email } = await makeWithPassword();
  for (let times = 0; times < 3; times += 1) await call(server, signIn, { body: { email, password } });
  const invitation = await invite(server, account, id);
  const accepted = await call(server, 'POST /operator_authentication/invitations/accept', {
    body: { invitation, password },
  });
  deviceOf(expectStatus(accepted, 201));
  assert.equal(await countDevices(id), 1);
});

test('guesses of the current password with a stolen token are limited', async () => {
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

test('few passwords are checked at a time, and sign-ins beyond the waiting limit get 503', async (t) => {
  // A third of the real cost: slow enough that requests wait for each other, also on a fast machine.
  useRealHashes(t, { N: 2 ** 15, r: 8, p: 1 });
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
