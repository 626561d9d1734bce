import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, type Config } from '../../../packages/server/src/config.ts';
import { startAppendingProxy, type AppendingProxy } from '../../support/network/appending-proxy.ts';
import { forThisFile } from '../../support/fixture.ts';
import { call, startTestServer, type TestServer } from '../../support/server.ts';
import { expectStatus, makeAccount, makeTeam } from '../../support/world.ts';

/** A limit of two sign-in attempts per minute and address, behind proxies that append to `X-Forwarded-For`. */
const first = await forThisFile(startTestServer());

interface Behind {
  readonly server: TestServer;
  readonly proxies: AppendingProxy[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts Usher with this value of `USHER_TRUST_PROXY`, and a proxy for each client. */
async function behind(trust: string, clients: readonly string[], withPort = false): Promise<Behind> {
  const { trustProxy } = readConfig({ USHER_TRUST_PROXY: trust });
  const limits: Partial<Config> = { rateLimitSignIn: 2, trustProxy };
  const server = await startTestServer(limits, first.database.address);
  const proxies = await Promise.all(clients.map(async (client) => startAppendingProxy(server, { client, withPort })));
  return {
    server,
    proxies,
    async [Symbol.asyncDispose]() {
      for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Sends four sign-in attempts, each with another forged address. */
async function guess(at: { readonly url: string } | undefined, entries = 1): Promise<number[]> {
  assert.ok(at !== undefined);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const forged = Array.from({ length: entries }, (_, index) => `198.51.100.${attempt * 10 + index}`).join(', ');
    const answer = await call(at, 'POST /operator_authentication/tokens', {
      body: { api_key_id: 'a', api_key_secret: 'b' },
      headers: { 'x-forwarded-for': forged },
    });
    statuses.push(answer.status);
  }
  return statuses;
}

const limited = [401, 401, 429, 429];

for (const trust of ['1', '127.0.0.1', 'loopback,10.0.0.0/8']) {
  test(`USHER_TRUST_PROXY=${trust}: a client that forges X-Forwarded-For is counted by the address that the proxy saw`, async () => {
    await using usher = await behind(trust, ['203.0.113.7', '203.0.113.8']);
    const [one, other] = usher.proxies;
    assert.deepEqual(await guess(one), limited);
    assert.deepEqual(await guess(other, 5), limited, 'another client has attempts of its own');
  });
}

test('two proxies, one behind the other, are two hops', async () => {
  await using usher = await behind('2', ['10.0.0.5']);
  const [inner] = usher.proxies;
  assert.ok(inner !== undefined);
  for (const client of ['203.0.113.7', '203.0.113.8']) {
    await using outer = await startAppendingProxy(inner, { client });
    assert.deepEqual(await guess(outer), limited);
  }
});

test('a port that a proxy appends does not make every connection a different client', async () => {
  for (const client of ['203.0.113.7', '[2001:db8::7]']) {
    await using usher = await behind('1', [client], true);
    assert.deepEqual(await guess(usher.proxies[0]), limited);
  }
});

test('X-Forwarded headers are ignored unless they come from a trusted proxy', async () => {
  for (const trust of ['false', '10.0.0.5']) {
    await using usher = await behind(trust, []);
    assert.deepEqual(await guess(usher.server), limited);
  }
});

test('the scheme of links is that of the nearest proxy, and nothing but http or https', async () => {
  const account = await makeAccount(first);
  for (let index = 0; index < 2; index += 1) await makeTeam(first, account, account.siteId);
  await using usher = await behind('1', ['203.0.113.7']);
  const path = `GET /teams?site_ids[]=${account.siteId}&per_page=1`;
  const forged = { 'x-forwarded-proto': 'gopher', 'x-forwarded-host': 'evil.example' };
  const [proxy] = usher.proxies;
  assert.ok(proxy !== undefined);
  const through = expectStatus(await call(proxy, path, { token: account.admin, headers: forged }), 200);
  assert.match(through.body.next_page, /^https:\/\//);
  const direct = await call(usher.server, path, { token: account.admin, headers: forged });
  assert.match(expectStatus(direct, 400).body.detail, /X-Forwarded-Proto must be http or https/);
});

test('invalid values of USHER_TRUST_PROXY are refused with the allowed values', () => {
  for (const value of ['0', '11', '-1', '1.5', '0.0.0.0/0', '::/0', '10.0.0.0/33', 'banana', '1,2', '10.0.0.5,']) {
    assert.throws(
      () => readConfig({ USHER_TRUST_PROXY: value }),
      /USHER_TRUST_PROXY must be false, the number of proxies before Usher \(1 to 10\), or a list of their addresses/,
      value,
    );
  }
  for (const value of ['true', 'false', '1', '10', '::1', 'loopback, 10.0.0.5'])
    assert.ok(readConfig({ USHER_TRUST_PROXY: value }));
});
