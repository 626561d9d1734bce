import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { Authentications } from '../../packages/server/src/engagements/visitor-authentication/authentications.ts';
import type { NotifyOperator } from '../../packages/server/src/engagements/visitor-authentication/conclude-request.ts';
import { Sealer } from '../../packages/server/src/identity/sealer.ts';
import { Keyring } from '../../packages/server/src/identity/signing-keys.ts';
import { Tokens } from '../../packages/server/src/identity/tokens.ts';
import { AddressGuard } from '../../packages/server/src/platform/outbound/address-guard.ts';
import { databaseErrorCode, openDatabase } from '../../packages/server/src/platform/database/database.ts';
import { NameResolver } from '../../packages/server/src/platform/outbound/names/name-resolver.ts';
import { GuardedFetcher } from '../../packages/server/src/platform/outbound/guarded-fetcher.ts';
import { createLog } from '../../packages/server/src/platform/log.ts';
import { sendProof, authenticate, eventsOfRequest, outcomeOf, addProvider } from '../support/people/authentication.ts';
import { startCluster } from '../support/processes/cluster.ts';
import { openWorld } from '../support/fixture.ts';
import { TestOpenid } from '../support/services/openid.ts';
import { call, startTestServer, until, type Json, type TestServer } from '../support/server.ts';
import { hangMs } from '../support/slowness.ts';
import {
  acceptOffer,
  enqueue,
  expectStatus,
  makeAccount,
  makeAvailableOperator,
  makeQueue,
  makeVisitor,
  type ServerHandle,
} from '../support/world.ts';

const providers: TestOpenid[] = [];
const { server, account: own } = await openWorld();
after(async () => {
  for (const openid of providers) await openid.stop();
});

const discovery = '/.well-known/openid-configuration';
const redirect_uri = 'app:/back';

async function start(): Promise<TestOpenid> {
  const openid = await new TestOpenid().start();
  providers.push(openid);
  return openid;
}

/** Delays requests for the path until `release`, and then answers them. */
function hold(openid: TestOpenid, path: string): { waiting: () => number; release: () => void } {
  const delayed: (() => void)[] = [];
  openid.overrides.set(path, (request, response) => {
    delayed.push(() => void openid.answer(request, response));
  });
  return {
    waiting: () => delayed.length,
    release() {
      openid.overrides.delete(path);
      for (const answer of delayed) answer();
    },
  };
}

test(
  'a provider that is down, misconfigured, slow, endless or redirecting fails with the right reason',
  { timeout: hangMs },
  async (t) => {
    const elsewhere = 'http://169.254.169.254/latest';
    const says = (openid: TestOpenid, path: string, status: number, body = ''): void =>
      void openid.overrides.set(
        path,
        (_request, response) => void response.writeHead(status, { location: '/jwks' }).end(body),
      );
    const ways: Record<string, readonly [reason: string, break_: (openid: TestOpenid) => unknown, byCode?: true]> = {
      'the provider is not running': ['provider_unreachable', async (openid) => openid.stop()],
      'another issuer': ['provider_misconfigured', (openid) => (openid.metadata = { issuer: 'https://other.example' })],
      'no jwks_uri': ['provider_misconfigured', (openid) => (openid.metadata = { jwks_uri: undefined })],
      'keys at an invalid URL': [
        'provider_misconfigured',
        (openid) => (openid.metadata = { jwks_uri: 'file:///etc/passwd' }),
      ],
      'keys at a forbidden address': ['provider_unreachable', (openid) => (openid.metadata = { jwks_uri: elsewhere })],
      'a redirect': ['provider_misconfigured', (openid) => says(openid, discovery, 302)],
      'not JSON': ['provider_misconfigured', (openid) => says(openid, discovery, 200, '<html>')],
      'a JSON list': ['provider_misconfigured', (openid) => says(openid, discovery, 200, '[]')],
      'an error of the provider': ['provider_unreachable', (openid) => says(openid, discovery, 500)],
      'not found': ['provider_misconfigured', (openid) => says(openid, discovery, 404)],
      'an answer that is too large': [
        'provider_unreachable',
        (openid) => says(openid, discovery, 200, ' '.repeat(300_000)),
      ],
      'no answer': ['provider_unreachable', (openid) => hold(openid, discovery)],
      'an answer byte by byte': ['provider_unreachable', (openid) => drip(openid)],
      'a closed connection': [
        'provider_unreachable',
        (openid) => openid.overrides.set(discovery, ({ socket }) => socket.destroy()),
      ],
      'invalid keys': ['provider_misconfigured', (openid) => says(openid, '/jwks', 200, '{"keys":5}')],
      'an empty list of keys': ['unknown_key', (openid) => says(openid, '/jwks', 200, '{"keys":[]}')],
      'a redirect of the keys': ['provider_misconfigured', (openid) => says(openid, '/jwks', 302)],
      'an error for the keys': ['provider_unreachable', (openid) => says(openid, '/jwks', 503)],
      'no token endpoint': [
        'provider_misconfigured',
        (openid) => (openid.metadata = { token_endpoint: undefined }),
        true,
      ],
      'a token endpoint at a forbidden address': [
        'provider_unreachable',
        (openid) => (openid.metadata = { token_endpoint: elsewhere }),
        true,
      ],
      'an error of the token endpoint': ['provider_unreachable', (openid) => says(openid, '/token', 502), true],
      'an unknown client': ['code_rejected', (openid) => says(openid, '/token', 401, '{}'), true],
      'an exchange without an ID token': [
        'no_id_token',
        (openid) => says(openid, '/token', 200, '{"access_token":"a"}'),
        true,
      ],
      'a redirect of the token endpoint': ['provider_misconfigured', (openid) => says(openid, '/token', 307), true],
    };
    const running = Object.entries(ways).map(async ([title, [reason, breakIt, byCode]]) => {
      const account = await makeAccount(server);
      const openid = await start();
      const provider_id = await addProvider(server, account, openid, { redirect_uris: [redirect_uri] });
      const visitor = await makeVisitor(server, account);
      const code_verifier = 'v'.repeat(43);
      const code = openid.grant(code_verifier, redirect_uri);
      const proof = byCode ? { code, code_verifier, redirect_uri } : { id_token: await openid.idToken() };
      await breakIt(openid);
      const id = await sendProof(server, visitor, { provider_id, ...proof });
      return { title, reason, found: await outcomeOf(server, visitor, id, 30_000) };
    });
    for (const each of running) {
      const { title, reason, found } = await each;
      await t.test(title, () => assert.equal(found, reason));
    }
  },
);

function drip(openid: TestOpenid): void {
  openid.overrides.set(discovery, (_request, response) => {
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  });
}

test('D9.11 a slow provider delays nobody else, and a visitor has at most five pending requests, exactly', async () => {
  const [slow, quick] = [await start(), await start()];
  const gate = hold(slow, discovery);
  const account = await makeAccount(server);
  const [provider_id, other] = [await addProvider(server, account, slow), await addProvider(server, account, quick)];
  const visitor = await makeVisitor(server, account);
  const send = async (token: string) =>
    call(server, 'POST /visitor_authentication/requests', { token, body: { provider_id, id_token: 'a.b.c' } });
  const answers = await Promise.all(Array.from({ length: 9 }, async () => send(visitor.token)));
  const taken = answers.filter(({ status }) => status === 202).map(({ body }) => body.id);
  assert.equal(taken.length, 5);
  for (const { status, body } of answers) if (status !== 202) assert.deepEqual([status, body.error], [409, 'too_many']);
  const others = await Promise.all(Array.from({ length: 35 }, async () => makeVisitor(server, account)));
  await Promise.all(others.map(async ({ token }) => expectStatus(await send(token), 202)));

  const body = { provider_id: other, id_token: await quick.idToken() };
  assert.equal(await authenticate(server, await makeVisitor(server, account), body), 'succeeded');
  // Running requests share one fetch; the others have not started.
  assert.equal(gate.waiting(), 1);
  gate.release();
  for (const id of taken) assert.equal(await outcomeOf(server, visitor, id), 'malformed_token');
  expectStatus(await send(visitor.token), 202);
});

test('requests fail if their provider is deleted before they are decided', async () => {
  const openid = await start();
  const gate = hold(openid, discovery);
  const account = await makeAccount(server);
  const provider_id = await addProvider(server, account, openid);
  const visitor = await makeVisitor(server, account);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1)
    ids.push(await sendProof(server, visitor, { provider_id, id_token: 'a.b.c' }));
  await until(() => gate.waiting() === 1);
  const path = `/sites/${account.siteId}/visitor_authentication_providers/${provider_id}`;
  expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 204);
  gate.release();
  const outcomes = await Promise.all(ids.map(async (id) => outcomeOf(server, visitor, id)));
  assert.equal(outcomes.filter((reason) => reason === 'provider_deleted').length, 1);
});

test('a valid token fails if its provider is deleted during the check', async () => {
  const openid = await start();
  const gate = hold(openid, '/jwks');
  const account = await makeAccount(server);
  const provider_id = await addProvider(server, account, openid);
  const visitor = await makeVisitor(server, account);
  const id_token = await openid.idToken();
  const id = await sendProof(server, visitor, { provider_id, id_token });
  await until(() => gate.waiting() === 1);
  const path = `/sites/${account.siteId}/visitor_authentication_providers/${provider_id}`;
  expectStatus(await call(server, `DELETE ${path}`, { token: account.admin }), 204);
  gate.release();
  assert.equal(await outcomeOf(server, visitor, id), 'provider_deleted');
  // The token does not count as used.
  const next = await addProvider(server, account, openid);
  assert.equal(await authenticate(server, visitor, { provider_id: next, id_token }), 'succeeded');
});

test('metadata is cached, new keys are found, and unknown keys do not cause endless fetches', async () => {
  const openid = await start();
  const provider_id = await addProvider(server, own, openid);
  const attempt = async (id_token: string) =>
    authenticate(server, await makeVisitor(server, own), { provider_id, id_token });
  for (let count = 0; count < 5; count += 1) assert.equal(await attempt(await openid.idToken()), 'succeeded');
  assert.deepEqual(openid.requestedPaths, [discovery, '/jwks']);

  const began = performance.now();
  for (let count = 0; count < 10; count += 1)
    assert.equal(await attempt(await openid.idToken({}, { kid: `unknown ${count}` })), 'unknown_key');
  const fetches = openid.requestedPaths.filter((path) => path === '/jwks').length;
  assert.ok(fetches <= 2 + (performance.now() - began) / 5_000, String(fetches));

  await openid.rotate();
  await until(async () => (await attempt(await openid.idToken())) === 'succeeded', 15_000);
  assert.equal(openid.requestedPaths.filter((path) => path === discovery).length, 1);
});

test('requests of an unreachable provider fail together, not one after the other', async () => {
  const openid = await start();
  openid.overrides.set(discovery, (_request, response) => void response.writeHead(503).end());
  const provider_id = await addProvider(server, own, openid);
  const visitors = await Promise.all(Array.from({ length: 30 }, async () => makeVisitor(server, own)));
  const began = performance.now();
  const body = { provider_id, id_token: 'a.b.c' };
  const outcomes = await Promise.all(visitors.map(async (visitor) => authenticate(server, visitor, body)));
  assert.deepEqual([...new Set(outcomes)], ['provider_unreachable']);
  assert.ok(
    openid.requestedPaths.length <= 1 + (performance.now() - began) / 2_000,
    String(openid.requestedPaths.length),
  );
  openid.overrides.delete(discovery);
  const [first] = visitors;
  assert.ok(first !== undefined);
  await until(
    async () => (await authenticate(server, first, { provider_id, id_token: 'a.b.c' })) === 'malformed_token',
  );
});

test('an account whose providers are all slow delays no other account', async () => {
  const account = await makeAccount(server);
  const slow = await Promise.all(Array.from({ length: 9 }, async () => start()));
  const quick = await start();
  const other = await addProvider(server, own, quick);
  const body = { provider_id: other, id_token: await quick.idToken() };
  const ids = await Promise.all(slow.map(async (openid) => addProvider(server, account, openid)));
  const visitors = await Promise.all(ids.map(async () => makeVisitor(server, account)));
  const gates = slow.map((openid) => hold(openid, discovery));
  const asking = ids.flatMap((provider_id, index) =>
    Array.from({ length: 4 }, async () =>
      sendProof(server, visitors[index] ?? { id: '', token: '' }, { provider_id, id_token: 'a.b.c' }),
    ),
  );
  await Promise.all(asking);
  const { sql } = server.database;
  const taken = async () => sql`
    SELECT 1 FROM visitor_authentication_requests WHERE state = 'pending' AND taken_until > now()`;
  // Sixteen run, the limit of one account; the others wait.
  await until(async () => (await taken()).length === 16);
  assert.equal(await authenticate(server, await makeVisitor(server, own), body), 'succeeded');
  assert.equal((await taken()).length, 16);
  for (const each of gates) each.release();
  const pending = async () => sql`SELECT 1 FROM visitor_authentication_requests WHERE state = 'pending'`;
  await until(async () => (await pending()).length === 0);
});

interface Deciding {
  readonly notifyOperator: NotifyOperator;
  readonly decided: string[];
}

/** Decides requests in the database of the given server, without HTTP. */
async function decideOn(at: TestServer, { notifyOperator, decided }: Deciding) {
  const database = openDatabase(at.database.address, 4);
  const numbers = { lagMs: 0, reconnects: 0, notifications: 0 };
  const feed = { live: false, numbers, on: () => undefined, onReset: () => undefined, caughtUp: async () => undefined };
  const guard = new AddressGuard(['127.0.0.0/8'], new NameResolver());
  const authentications = new Authentications({
    sql: database.sql,
    sqlOf: () => database.sql,
    log: createLog('silent'),
    sealer: new Sealer(database.sql),
    tokens: new Tokens(new Keyring(database.sql, { ...feed, close: async () => undefined })),
    fetcher: new GuardedFetcher({ guard, plainHttp: 'to allowed ranges', holder: 'test' }),
    notifyOperator,
    onDecided: (accountId) => void decided.push(accountId),
  });
  return {
    authentications,
    database,
    async [Symbol.asyncDispose]() {
      await authentications.stop();
      await database.close(1_000);
    },
  };
}

test('a server that stops releases its requests, and the operator’s message is in the same transaction as the decision', async () => {
  const first = await startTestServer();
  const account = await makeAccount(first);
  const operator = await makeAvailableOperator(first, account);
  const { visitor } = await enqueue(first, account, await makeQueue(first, account));
  const engagement = await acceptOffer(first, operator);
  const openid = await start();
  const gate = hold(openid, discovery);
  const provider_id = await addProvider(first, account, openid);
  const id = await sendProof(first, visitor, { provider_id, id_token: await openid.idToken({ name: 'Ada' }) });
  await until(() => gate.waiting() === 1);
  await first[Symbol.asyncDispose]();
  gate.release();

  const sent: Json[] = [];
  const decided: string[] = [];
  const notifyOperator: NotifyOperator = async (sql, message) => {
    sent.push(message);
    await sql`UPDATE engagements SET undelivered_to_operator = 7 WHERE id = ${message.engagementId}`;
    if (sent.length === 1) throw new Error('cannot send');
    const other = openDatabase(first.database.address, 1);
    const lock = other.sql`SELECT 1 FROM engagements WHERE id = ${message.engagementId} FOR NO KEY UPDATE NOWAIT`;
    await assert.rejects(lock.execute(), (error) => databaseErrorCode(error) === '55P03');
    await other.close(0);
  };
  await using second = await decideOn(first, { notifyOperator, decided });
  const { sql } = second.database;
  await until(() => sent.length === 1);
  const state = async (): Promise<unknown[]> => [
    (await sql`SELECT state FROM visitor_authentication_requests`)[0]?.['state'],
    (await sql`SELECT name FROM visitors WHERE id = ${visitor.id}`)[0]?.['name'],
    (await sql`SELECT undelivered_to_operator AS n FROM engagements`)[0]?.['n'],
    (await sql`SELECT 1 FROM used_id_tokens`).length,
    (await sql`SELECT 1 FROM event_secrets`).length,
    (await eventsOfRequest({ url: '', database: second.database }, id)).length,
  ];
  // The message failed, so nothing was committed. The request is retried when its lease expires.
  assert.deepEqual(await state(), ['pending', null, 0, 0, 0, 0]);
  assert.deepEqual(decided, []);
  await sql`UPDATE visitor_authentication_requests SET taken_until = now()`;
  second.authentications.wake();
  await until(async () => decided.length === 1);
  assert.deepEqual(await state(), ['succeeded', 'Ada', 7, 1, 1, 1]);
  const [{ accountId, engagementId, content }] = sent.slice(1);
  assert.deepEqual([accountId, engagementId, sent.length], [decided[0], engagement, 2]);
  assert.match(content, /Ada/);
});

test('a request that is never decided fails after the last attempt', async () => {
  const openid = await start();
  const gate = hold(openid, discovery);
  const provider_id = await addProvider(server, own, openid);
  const visitor = await makeVisitor(server, own);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1)
    ids.push(await sendProof(server, visitor, { provider_id, id_token: 'a.b.c' }));
  await until(() => gate.waiting() === 1);
  // The fifth attempt waits, as if five processes had died with it.
  await server.database.sql`UPDATE visitor_authentication_requests SET attempts = 5 WHERE id = ${ids[4] ?? ''}`;
  gate.release();
  assert.equal(await outcomeOf(server, visitor, ids[4] ?? ''), 'error');
});

const allowLoopback = { USHER_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };

async function expireLeases({ database: { sql } }: ServerHandle): Promise<void> {
  await sql`UPDATE visitor_authentication_requests SET taken_until = now() WHERE state = 'pending'`;
}

test('with two processes, each request is decided once', { timeout: hangMs }, async () => {
  await using cluster = await startCluster(2, allowLoopback);
  const [one, two] = cluster.nodes.map((node) => cluster.reach(node));
  assert.ok(one !== undefined && two !== undefined);
  const account = await makeAccount(one);
  const openid = await start();
  const provider_id = await addProvider(one, account, openid);
  const replayed = await openid.idToken();
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const at = index % 2 ? one : two;
      const id_token = index < 10 ? replayed : await openid.idToken({ sub: String(index) });
      return authenticate(at, await makeVisitor(one, account), { provider_id, id_token });
    }),
  );
  assert.equal(outcomes.filter((reason) => reason === 'token_replayed').length, 9);
  assert.equal(outcomes.filter((reason) => reason === 'succeeded').length, 31);
});

for (const path of [discovery, '/jwks']) {
  test(`after a kill during the request for ${path}, another process decides`, { timeout: hangMs }, async () => {
    await using cluster = await startCluster(1, allowLoopback);
    const [victim] = cluster.nodes;
    assert.ok(victim !== undefined);
    const account = await makeAccount(cluster.reach(victim));
    const openid = await start();
    const gate = hold(openid, path);
    const provider_id = await addProvider(cluster.reach(victim), account, openid, { redirect_uris: [redirect_uri] });
    const visitor = await makeVisitor(cluster.reach(victim), account);
    const code_verifier = `${randomUUID()}${randomUUID()}`;
    const code = openid.grant(code_verifier, redirect_uri, { name: 'Ada' });
    const id = await sendProof(cluster.reach(victim), visitor, { provider_id, code, code_verifier, redirect_uri });
    await until(() => gate.waiting() === 1);
    await victim.stop('SIGKILL');
    gate.release();
    const survivor = cluster.reach(await cluster.start());
    await expireLeases(survivor);
    // If the process waited for the keys, the code was already exchanged, and its ID token was stored.
    assert.equal(await outcomeOf(survivor, visitor, id), 'succeeded');
    assert.equal(openid.tokenRequests.length, 1);
  });
}

test('a decision is written once, later, if the connection breaks during the write', { timeout: hangMs }, async () => {
  const openid = await start();
  const provider_id = await addProvider(server, own, openid);
  const visitor = await makeVisitor(server, own);
  const gate = hold(openid, discovery);
  const id = await sendProof(server, visitor, { provider_id, id_token: await openid.idToken() });
  await until(() => gate.waiting() === 1);
  const { sql } = server.database;
  await sql.begin(async (blocker) => {
    await blocker`SELECT 1 FROM visitors WHERE id = ${visitor.id} FOR UPDATE`;
    gate.release();
    await until(async () => {
      const cut = await sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return cut.length > 0;
    });
  });
  await expireLeases(server);
  assert.equal(await outcomeOf(server, visitor, id), 'succeeded');
});
