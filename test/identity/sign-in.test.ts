import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { dropExpiredSignIns } from '../../packages/server/src/identity/sign-in/store.ts';
import { useRealHashes } from '../support/people/cheap-hashes.ts';
import { openWorld } from '../support/fixture.ts';
import { call, startTestServer, type Answer, type Json } from '../support/server.ts';
import {
  cookieOf,
  exchange,
  invite,
  linkOf,
  openSession,
  sessionOf,
  sessionsPath,
  statusesOf,
} from '../support/people/sign-in.ts';
import { expectStatus, makeAccount, makeOperator } from '../support/world.ts';

const signIn = `POST ${sessionsPath}`;
const current = `GET ${sessionsPath}/current`;
const password = 'a lamp by the river';

const { server, account } = await openWorld();

interface Person {
  readonly id: string;
  readonly email: string;
  readonly keyId: string;
}

/** An operator who has accepted an invitation. */
async function makePerson(role = 'operator', who = account): Promise<Person> {
  const { id, keyId } = await makeOperator(server, who, [{ site_id: who.siteId, role }]);
  await accept(await invite(server, who, id));
  const { body } = await call(server, `GET /operators/${id}`, { token: who.admin });
  return { id, email: body.email, keyId };
}

async function accept(invitation: string, chosen = password): Promise<Answer> {
  const body = { invitation, password: chosen };
  return call(server, 'POST /operator_authentication/invitations/accept', { body });
}

async function useCookie(cookie: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return call(server, exchange, { headers: { cookie, ...headers } });
}

async function statusOf(token: string): Promise<number> {
  return (await call(server, current, { token })).status;
}

function assertSignedIn(answer: Answer, operatorId: string, { isSignIn }: { isSignIn: boolean }): void {
  assert.deepEqual(Object.keys(answer.body), ['token', 'expires_in', 'operator_id', 'session_id']);
  assert.equal(answer.body.operator_id, operatorId);
  assert.equal(answer.body.expires_in, 3_600);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const [cookie = '', ...more] = answer.headers.getSetCookie();
  // A sign-in also sets the device cookie.
  assert.deepEqual(
    more.map((each) => each.split('=', 1)[0]),
    isSignIn ? ['usher_device'] : [],
  );
  assert.match(
    cookie,
    /^usher_session=[\da-f-]{36}\.[\w-]{43}; Max-Age=\d+; Path=\/operator_authentication\/sessions; HttpOnly; SameSite=Strict$/,
  );
  assert.ok(cookie.includes(answer.body.session_id));
  const days = Number(/Max-Age=(\d+)/.exec(cookie)?.[1]) / 86_400;
  assert.ok(days > 13.9 && days <= 14, String(days));
}

test('every sign-in method gives a token and a session that is exchanged for further tokens', async (t) => {
  const person = await makePerson();
  const { body: key } = await call(server, `POST /operators/${person.id}/api_keys`, { token: account.admin });
  const methods: Readonly<Record<string, () => Promise<Json>>> = {
    password: async () => ({ email: person.email.toUpperCase(), password }),
    api_key: async () => ({ api_key_id: key.id, api_key_secret: key.secret }),
    link: async () => ({ link: await linkOf(server, person.id) }),
  };
  for (const [name, body] of Object.entries(methods)) {
    await t.test(name, async () => {
      const headers = { 'user-agent': 'x'.repeat(300) };
      const answer = expectStatus(await call(server, signIn, { body: await body(), headers }), 201);
      assertSignedIn(answer, person.id, { isSignIn: true });
      const { token, id, cookie } = sessionOf(answer);
      const about = expectStatus(await call(server, current, { token }), 200).body;
      assert.deepEqual(Object.keys(about), ['operator_id', 'site_roles', 'expires_at', 'session_id']);
      assert.deepEqual([about.operator_id, about.session_id], [person.id, id]);
      assert.deepEqual(about.site_roles, { [account.siteId]: 'operator' });

      const again = expectStatus(await useCookie(cookie), 200);
      assertSignedIn(again, person.id, { isSignIn: false });
      assert.equal(cookieOf(again), cookie);
      assert.notEqual(again.body.token, token);
      assert.equal(await statusOf(again.body.token), 200);
      assert.equal(await statusOf(token), 200);
      const { sessions } = expectStatus(await call(server, `GET ${sessionsPath}`, { token }), 200).body;
      const own = sessions.find((each: Json) => each.current);
      assert.deepEqual([own.id, own.signed_in_with, own.user_agent], [id, name, 'x'.repeat(200)]);
    });
  }
  assert.equal((await call(server, current, { token: account.admin })).body.session_id, null);
});

test('the session cookie does not authenticate API requests', async () => {
  const { cookie } = await openSession(server, { link: await linkOf(server, account.adminId) });
  for (const request of ['GET /sites', current, `GET ${sessionsPath}`, `DELETE ${sessionsPath}`])
    expectStatus(await call(server, request, { headers: { cookie } }), 401);
  expectStatus(await useCookie(cookie), 200);
});

test('an unknown address, a wrong or missing password and a disabled operator get the same response after the same work', async () => {
  const person = await makePerson();
  const without = await makeOperator(server, account, []);
  const { body: shown } = await call(server, `GET /operators/${without.id}`, { token: account.admin });
  const disabled = await makePerson();
  expectStatus(await call(server, `DELETE /operators/${disabled.id}`, { token: account.admin }), 204);
  const attempts = [
    { email: person.email, password: `${password}!` },
    { email: person.email, password: password.toUpperCase() },
    { email: `${randomUUID()}@test`, password },
    { email: shown.email, password },
    { email: disabled.email, password },
  ];
  const best = attempts.map(() => Number.POSITIVE_INFINITY);
  const answers: Json[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const [index, body] of attempts.entries()) {
      const began = performance.now();
      const answer = await call(server, signIn, { body });
      best[index] = Math.min(best[index] ?? 0, performance.now() - began);
      assert.equal(answer.status, 401);
      assert.deepEqual(answer.headers.getSetCookie(), []);
      const { request_id: _, ...rest } = answer.body;
      answers.push(rest);
    }
  }
  assert.equal(answers[0].error, 'invalid_credentials');
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  // Hashing is nearly all of the work: without it an attempt would take a hundredth of the time. The factor 10 allows for load.
  assert.ok(Math.min(...best) > Math.max(...best) / 10, best.join(', '));
});

test('an e-mail address in several accounts signs in to the account whose password matches', async () => {
  const [first, second, third] = [await makeAccount(server), await makeAccount(server), await makeAccount(server)];
  const email = `${randomUUID()}@Test`;
  const ids: string[] = [];
  for (const [index, who] of [first, second, third].entries()) {
    const body = { name: 'Ann', email };
    const { id } = expectStatus(await call(server, 'POST /operators', { token: who.admin, body }), 201).body;
    ids.push(id);
    if (index > 0) expectStatus(await accept(await invite(server, who, id), `${password} ${index}`), 201);
  }
  for (const index of [1, 2])
    assert.equal((await openSession(server, { email, password: `${password} ${index}` })).operatorId, ids[index]);
  expectStatus(await call(server, signIn, { body: { email, password } }), 401);
});

test('signing in needs exactly one complete set of credentials', async () => {
  const cases: [Json, string[]][] = [
    [{}, ['']],
    [{ email: 'a@b' }, ['/password']],
    [{ password }, ['/email']],
    [{ api_key_id: 'a' }, ['/api_key_secret']],
    [{ email: 'a@b', password, link: 'x' }, ['']],
    [{ email: 'a@b', api_key_secret: 'x' }, ['']],
    [{ email: 'a@b', password: '' }, ['/password']],
    [{ email: 'a@b', password: 'x'.repeat(257) }, ['/password']],
    [{ link: 'x'.repeat(129) }, ['/link']],
    [{ link: 'x', remember: true }, ['/remember']],
    [{ link: null }, ['/link']],
  ];
  for (const [body, attributes] of cases) {
    const { body: problem } = expectStatus(await call(server, signIn, { body }), 422);
    assert.deepEqual(
      problem.details.map(({ attribute }: Json) => attribute),
      attributes,
      JSON.stringify(body),
    );
  }
  for (const link of ['x', 'usl_', `usl_${'A'.repeat(43)}`, '\u{1F422}'])
    assert.equal(expectStatus(await call(server, signIn, { body: { link } }), 401).body.error, 'invalid_credentials');
});

test('a one-time link works once and for an hour', async () => {
  const link = await linkOf(server, account.adminId);
  const answers = await Promise.all(Array.from({ length: 8 }, async () => call(server, signIn, { body: { link } })));
  assert.deepEqual(statusesOf(answers), [201, ...Array<number>(7).fill(401)]);
  expectStatus(await call(server, signIn, { body: { link } }), 401);

  const late = await linkOf(server, account.adminId);
  await server.database.sql`UPDATE sign_in_links SET expires_at = now()`;
  expectStatus(await call(server, signIn, { body: { link: late } }), 401);
});

test('only pages of the same origin can exchange the session cookie', async () => {
  const { cookie } = await openSession(server, { link: await linkOf(server, account.adminId) });
  const { host } = new URL(server.url);
  for (const headers of [
    { 'sec-fetch-site': 'same-origin', origin: server.url },
    { 'sec-fetch-site': 'same-origin' },
    { origin: `http://${host}` },
    {},
  ])
    expectStatus(await useCookie(cookie, headers), 200);
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: server.url },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://${host}.evil.example` },
    { origin: 'http://127.0.0.1:1' },
  ]) {
    const answer = await useCookie(cookie, headers);
    assert.equal(expectStatus(answer, 403).body.error, 'cross_origin', JSON.stringify(headers));
    assert.deepEqual(answer.headers.getSetCookie(), []);
    assert.equal(answer.headers.get('access-control-allow-credentials'), null);
    // Another site must not be able to sign its visitor in as somebody else.
    const link = await linkOf(server, account.adminId);
    const forged = await call(server, signIn, { body: { link }, headers: headers });
    assert.equal(expectStatus(forged, 403).body.error, 'cross_origin');
    expectStatus(await call(server, signIn, { body: { link } }), 201);
  }
  // An allowed origin may call the API, but not exchange the session.
  const origin = 'https://shop.example';
  const body = { allowed_origins: [origin] };
  expectStatus(await call(server, `PATCH /sites/${account.siteId}`, { token: account.admin, body }), 200);
  expectStatus(await useCookie(cookie, { origin }), 403);
});

test('over https the session cookie is Secure', async () => {
  const secure = async (headers: Record<string, string>, where = server): Promise<boolean> => {
    const link = await linkOf(server, account.adminId);
    const answer = expectStatus(await call(where, signIn, { body: { link }, headers }), 201);
    return answer.headers.getSetCookie()[0]?.endsWith('; Secure') === true;
  };
  assert.equal(await secure({}), false);
  assert.equal(await secure({ 'x-forwarded-proto': 'https' }), false);
  assert.equal(await secure({ origin: 'https://usher.example', 'sec-fetch-site': 'same-origin' }), true);
  const proxied = await startTestServer({ trustProxy: true }, server.database.address);
  try {
    assert.equal(await secure({ 'x-forwarded-proto': 'https' }, proxied), true);
  } finally {
    await proxied[Symbol.asyncDispose]();
  }
});

test('exchanging an invalid session gives no_session and clears the cookie', async () => {
  const { cookie, id } = await openSession(server, { link: await linkOf(server, account.adminId) });
  const wrong = `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`;
  const other = cookie.replace(id, randomUUID());
  for (const header of ['', 'usher_session=', 'usher_session=x', wrong, other]) {
    const answer = await useCookie(header);
    assert.equal(expectStatus(answer, 401).body.error, 'no_session', header);
    assert.match(
      answer.headers.getSetCookie()[0] ?? '',
      /^usher_session=; Max-Age=0; Path=.*; HttpOnly; SameSite=Strict$/,
    );
  }
  expectStatus(await useCookie(cookie), 200);
});

test('use extends a session, up to 90 days', async () => {
  const { sql } = server.database;
  const session = await openSession(server, { link: await linkOf(server, account.adminId) });
  const days = async (): Promise<number> => {
    const [row] = await sql`
      SELECT extract(epoch FROM expires_at - now()) / 86400 AS days FROM operator_sessions WHERE id = ${session.id}`;
    return Number(row?.['days']);
  };
  await sql`
    UPDATE operator_sessions SET created_at = now() - interval '13 days', expires_at = now() + interval '1 day'
     WHERE id = ${session.id}`;
  expectStatus(await useCookie(session.cookie), 200);
  assert.ok((await days()) > 13.9);
  await sql`UPDATE operator_sessions SET created_at = now() - interval '88 days' WHERE id = ${session.id}`;
  const capped = expectStatus(await useCookie(session.cookie), 200);
  assert.ok((await days()) < 2.1);
  assert.ok(Number(/Max-Age=(\d+)/.exec(capped.headers.getSetCookie()[0] ?? '')?.[1]) < 2.1 * 86_400);
  // A token does not outlive its session.
  await sql`
    UPDATE operator_sessions SET created_at = now() - interval '90 days' + interval '1 minute' WHERE id = ${session.id}`;
  const { token, expires_in } = expectStatus(await useCookie(session.cookie), 200).body;
  assert.ok(expires_in > 50 && expires_in <= 60, String(expires_in));
  assert.equal(await statusOf(token), 200);

  await sql`UPDATE operator_sessions SET expires_at = now() WHERE id = ${session.id}`;
  expectStatus(await useCookie(session.cookie), 401);
  await dropExpiredSignIns(sql, new Date(), () => true);
  await server.changes.caughtUp();
  assert.equal(await statusOf(token), 401);
  assert.equal(await days(), Number.NaN);
});

test('signing out ends the session, its tokens and its cookie, but no other session', async () => {
  const person = await makePerson();
  const [one, two] = [
    await openSession(server, { link: await linkOf(server, person.id) }),
    await openSession(server, { link: await linkOf(server, person.id) }),
  ];
  const { token: later } = expectStatus(await useCookie(one.cookie), 200).body;
  const out = await call(server, `DELETE ${sessionsPath}/current`, {
    token: one.token,
    headers: { cookie: one.cookie },
  });
  assert.match(expectStatus(out, 204).headers.getSetCookie()[0] ?? '', /Max-Age=0/);
  assert.equal(await statusOf(one.token), 401);
  assert.equal(await statusOf(later), 401);
  expectStatus(await useCookie(one.cookie), 401);
  assert.equal(await statusOf(two.token), 200);

  // Ending another session does not clear the cookie of this one.
  const three = await openSession(server, { link: await linkOf(server, person.id) });
  const headers = { cookie: two.cookie };
  const ended = await call(server, `DELETE ${sessionsPath}/${three.id}`, { token: two.token, headers });
  assert.deepEqual(expectStatus(ended, 204).headers.getSetCookie(), []);
  assert.equal(await statusOf(three.token), 401);
  expectStatus(await call(server, `DELETE ${sessionsPath}/${three.id}`, { token: two.token }), 404);
  const foreign = await openSession(server, { link: await linkOf(server, account.adminId) });
  expectStatus(await call(server, `DELETE ${sessionsPath}/${foreign.id}`, { token: two.token }), 404);
  assert.equal(await statusOf(foreign.token), 200);
});

test('signing out everywhere ends all sessions of the operator and nobody else’s', async () => {
  const person = await makePerson();
  const mine = await Promise.all([1, 2, 3].map(async () => openSession(server, { email: person.email, password })));
  const other = await openSession(server, { link: await linkOf(server, account.adminId) });
  const [first] = mine;
  assert.ok(first);
  const headers = { cookie: first.cookie };
  const out = await call(server, `DELETE ${sessionsPath}`, { token: first.token, headers });
  assert.match(expectStatus(out, 204).headers.getSetCookie()[0] ?? '', /Max-Age=0/);
  for (const { token, cookie } of mine) {
    assert.equal(await statusOf(token), 401);
    expectStatus(await useCookie(cookie), 401);
  }
  assert.equal(await statusOf(other.token), 200);
});

test('signing in again ends the previous session of the browser', async () => {
  const previous = await openSession(server, { link: await linkOf(server, account.adminId) });
  const body = { link: await linkOf(server, account.adminId) };
  const next = sessionOf(expectStatus(await call(server, signIn, { body, headers: { cookie: previous.cookie } }), 201));
  assert.equal(await statusOf(previous.token), 401);
  assert.equal(await statusOf(next.token), 200);
  // A failed sign-in keeps the session.
  const failed = await call(server, signIn, { body, headers: { cookie: next.cookie } });
  expectStatus(failed, 401);
  assert.equal(await statusOf(next.token), 200);
});

test('D9.7 deleting an API key ends the sessions opened with it', async () => {
  const person = await makePerson();
  const { body: key } = await call(server, `POST /operators/${person.id}/api_keys`, { token: account.admin });
  const byKey = await openSession(server, { api_key_id: key.id, api_key_secret: key.secret });
  const byPassword = await openSession(server, { email: person.email, password });
  assert.equal(await statusOf(byKey.token), 200);
  expectStatus(await call(server, `DELETE /operators/${person.id}/api_keys/${key.id}`, { token: account.admin }), 204);
  assert.equal(await statusOf(byKey.token), 401);
  expectStatus(await useCookie(byKey.cookie), 401);
  assert.equal(await statusOf(byPassword.token), 200);
});

test('disabling an operator ends their sessions, links and invitation permanently', async () => {
  const person = await makePerson();
  const session = await openSession(server, { email: person.email, password });
  const [link, invitation] = [await linkOf(server, person.id), await invite(server, account, person.id)];
  const path = `/operators/${person.id}`;
  expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 204);
  assert.equal(await statusOf(session.token), 401);
  const refused = await call(server, `POST ${path}/invitations`, { token: account.admin });
  assert.equal(expectStatus(refused, 409).body.error, 'operator_disabled');
  for (const enabled of [false, true]) {
    if (enabled) expectStatus(await call(server, `PATCH ${path}`, { token: account.admin, body: { enabled } }), 200);
    expectStatus(await useCookie(session.cookie), 401);
    assert.equal(await statusOf(session.token), 401);
    expectStatus(await call(server, signIn, { body: { link } }), 401);
    expectStatus(await accept(invitation), 404);
  }
  await openSession(server, { email: person.email, password });
});

test('secrets are stored as digests and slow hashes, and never logged', async (t) => {
  useRealHashes(t);
  const { id } = await makeOperator(server, account, []);
  const invitation = await invite(server, account, id);
  const accepted = sessionOf(expectStatus(await accept(invitation), 201));
  const waiting = await invite(server, account, id);
  const link = await linkOf(server, id);
  expectStatus(await useCookie(accepted.cookie), 200);
  expectStatus(await call(server, signIn, { body: { link: `${link}x` } }), 401);
  const rows = await server.database.sql`
    SELECT to_jsonb(s)::text AS row FROM operator_sessions s
    UNION ALL SELECT to_jsonb(i)::text FROM operator_invitations i
    UNION ALL SELECT to_jsonb(l)::text FROM sign_in_links l
    UNION ALL SELECT to_jsonb(p)::text FROM operator_passwords p`;
  const stored = rows.map(({ row }) => row).join('\n');
  assert.match(stored, /scrypt\$32768\$8\$3\$/);
  const logged = server.logged.join('\n');
  assert.match(logged, /invitations\/accept/);
  const secret = accepted.cookie.split('.')[1] ?? '';
  assert.equal(secret.length, 43);
  for (const each of [secret, invitation, waiting, link, password, accepted.token]) {
    assert.ok(!stored.includes(each), 'a secret is stored');
    assert.ok(!logged.includes(each), 'a secret is logged');
  }
});
