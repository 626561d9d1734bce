import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, startTestServer, type TestServer } from '../../support/server.ts';
import { expectStatus, makeAccount, makeSite, makeVisitor, signIn } from '../../support/world.ts';

async function withServer(
  run: (server: TestServer) => Promise<void>,
  overrides: Parameters<typeof startTestServer>[0] = {},
) {
  const server = await startTestServer(overrides);
  try {
    await run(server);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

test('cross-origin requests are allowed by the allowed_origins of the caller’s site', async () =>
  withServer(async (server) => {
    const account = await makeAccount(server);
    const other = await makeSite(server, account, 'Other');
    const shop = 'https://shop.example';
    const preflight = async (origin: string) =>
      call(server, 'OPTIONS /visitors', {
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      });
    assert.equal(expectStatus(await preflight(shop), 403).body.error, 'forbidden');

    expectStatus(
      await call(server, `PATCH /sites/${account.siteId}`, { token: account.admin, body: { allowed_origins: [shop] } }),
      200,
    );
    const allowed = expectStatus(await preflight(shop), 204);
    assert.equal(allowed.headers.get('access-control-allow-origin'), shop);
    assert.equal(allowed.headers.get('access-control-allow-headers'), 'authorization');
    expectStatus(await preflight('https://evil.example'), 403);

    const here = await makeVisitor(server, account);
    const there = await makeVisitor(server, account, other);
    const read = async (visitor: { id: string; token: string }, site: string) =>
      call(server, `GET /sites/${site}/visitors/${visitor.id}`, { token: visitor.token, headers: { origin: shop } });
    assert.equal(expectStatus(await read(here, account.siteId), 200).headers.get('access-control-allow-origin'), shop);
    assert.equal(expectStatus(await read(there, other), 200).headers.get('access-control-allow-origin'), null);
    const refused = await call(server, `GET /sites`, { headers: { origin: shop } });
    assert.equal(expectStatus(refused, 401).headers.get('access-control-allow-origin'), shop);
    assert.equal(refused.headers.get('vary'), 'Origin');
    assert.equal((await call(server, 'GET /sites')).headers.get('access-control-allow-origin'), null);

    expectStatus(
      await call(server, `PATCH /sites/${account.siteId}`, { token: account.admin, body: { allowed_origins: null } }),
      200,
    );
    expectStatus(await preflight(shop), 403);
  }));

test('each token has its own limit of requests per minute', async () =>
  withServer(
    async (server) => {
      const account = await makeAccount(server);
      const statuses: number[] = [];
      for (let count = 0; count < 12; count += 1)
        statuses.push((await call(server, 'GET /sites', { token: account.admin })).status);
      // The sign-in helper has already sent one of the ten requests.
      assert.deepEqual(statuses, [...Array<number>(9).fill(200), 429, 429, 429]);
      const limited = await call(server, 'GET /sites', { token: account.admin });
      assert.equal(limited.body.error, 'rate_limited');
      const wait = Number(limited.headers.get('retry-after'));
      assert.ok(wait > 0 && wait <= 60, String(wait));
      const other = await makeAccount(server);
      expectStatus(await call(server, 'GET /sites', { token: other.admin }), 200);
      // A second token of the same operator shares the limit.
      expectStatus(await call(server, 'GET /sites', { token: await signIn(server, account.key) }), 429);
    },
    { rateLimitPerToken: 10 },
  ));

test('an IP address has a limit of sign-in attempts and of failed authentications', async () =>
  withServer(
    async (server) => {
      const attempt = async () =>
        call(server, 'POST /operator_authentication/tokens', { body: { api_key_id: 'a', api_key_secret: 'b' } });
      const statuses = [];
      for (let count = 0; count < 5; count += 1) statuses.push((await attempt()).status);
      assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
      const failures = await Promise.all(
        Array.from({ length: 310 }, async () => call(server, 'GET /sites', { token: 'garbage' })),
      );
      assert.equal(failures.filter((answer) => answer.status === 429).length, 10);
      // Requests with a token are still allowed from a limited address.
      expectStatus(await call(server, 'GET /healthz'), 200);
    },
    { rateLimitSignIn: 3 },
  ));

test('the client’s address is taken from a trusted proxy only', async () => {
  const attempt = async (server: TestServer, address: string) =>
    call(server, 'POST /operator_authentication/tokens', {
      body: { api_key_id: 'a', api_key_secret: 'b' },
      headers: { 'x-forwarded-for': address },
    });
  await withServer(
    async (server) => {
      for (let client = 0; client < 4; client += 1) expectStatus(await attempt(server, `198.51.100.${client}`), 401);
    },
    { rateLimitSignIn: 2, trustProxy: ['127.0.0.1'] },
  );
  await withServer(
    async (server) => {
      const statuses = [];
      for (let client = 0; client < 4; client += 1)
        statuses.push((await attempt(server, `198.51.100.${client}`)).status);
      assert.deepEqual(statuses, [401, 401, 429, 429]);
    },
    { rateLimitSignIn: 2 },
  );
});
