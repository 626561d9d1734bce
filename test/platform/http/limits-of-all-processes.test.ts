import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../packages/server/src/config.ts';
import { SharedUses } from '../../../packages/server/src/platform/limits/shared-uses.ts';
import { createLog } from '../../../packages/server/src/platform/log.ts';
import { call, startTestServer, until, type TestServer } from '../../support/server.ts';
import { sessionsPath } from '../../support/people/sign-in.ts';
import { expectStatus, makeAccount, makeApplicationToken } from '../../support/world.ts';

/** Limits per minute hold for all processes together, within ten per cent, and without a statement for each request. */

async function startServers(count: number, settings: Partial<Config>): Promise<TestServer[] & AsyncDisposable> {
  const first = await startTestServer(settings);
  const servers = [first];
  while (servers.length < count) servers.push(await startTestServer(settings, first.database.address));
  const close = async (): Promise<void> => {
    for (const server of servers.toReversed()) await server[Symbol.asyncDispose]();
  };
  return Object.assign(servers, { [Symbol.asyncDispose]: close });
}

/** Calls one server after the other answer, until it refuses. Returns how often it did not. */
async function useUp(use: () => Promise<{ readonly status: number }>): Promise<number> {
  for (let used = 0; ; used += 1) {
    const { status } = await use();
    if (status === 429) return used;
    assert.ok(status < 400, `the answer is ${status}`);
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

for (const [count, concurrency] of [
  [2, 4],
  [4, 2],
] as const)
  test(`a token may use ${count} processes as much as one`, async (t) => {
    const limit = 1_000;
    await using servers = await startServers(count, { rateLimitPerToken: limit });
    const [first] = servers;
    assert.ok(first);
    const { admin } = await makeAccount(first);
    let announcements = 0;
    first.changes.on('uses', () => (announcements += 1));
    const callers = servers.flatMap((server) => Array<TestServer>(concurrency).fill(server));
    const used = await Promise.all(
      callers.map(async (server) => useUp(async () => call(server, 'GET /sites', { token: admin }))),
    );
    const total = sumOf(used);
    t.diagnostic(`${total} requests were admitted, the limit is ${limit}; ${announcements} announcements`);
    // What was used before, by the set-up, is part of the limit.
    assert.ok(total > 0.9 * limit && total <= 1.1 * limit, `${total} of ${limit}: ${used.join()}`);
    assert.ok(announcements < total / 5, `${announcements} announcements of ${total} requests`);
  });

test('visitors are created from one address at two processes as often as at one', async () => {
  const perMinute = 100;
  await using servers = await startServers(2, {});
  const [first] = servers;
  assert.ok(first);
  const account = await makeAccount(first);
  const site = expectStatus(await call(first, `GET /sites/${account.siteId}`, { token: account.admin }), 200).body;
  const limits = { ...site.visitor_limits, new_visitors_per_minute: perMinute };
  expectStatus(
    await call(first, `PATCH /sites/${account.siteId}`, { token: account.admin, body: { visitor_limits: limits } }),
    200,
  );
  const { header: token } = await makeApplicationToken(first, account, 'publishable');
  const began = performance.now();
  const used = await Promise.all(
    servers.map(async (server) => useUp(async () => call(server, 'POST /visitors', { token, body: {} }))),
  );
  const refilled = ((performance.now() - began) / 60_000) * perMinute;
  const total = sumOf(used);
  assert.ok(total >= perMinute && total <= 1.1 * (perMinute + refilled), `${total}: ${used.join()}`);
});

test('wrong passwords are counted together', async () => {
  await using servers = await startServers(2, { rateLimitSignIn: 60 });
  const signIn = async (n: number): Promise<number> => {
    const server = servers[n % 2];
    assert.ok(server);
    const body = { email: 'nobody@example.com', password: 'not the password' };
    return (await call(server, `POST ${sessionsPath}`, { body })).status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 14; n += 1) statuses.push(await signIn(n));
  assert.deepEqual(statuses.slice(0, 10), Array(10).fill(401));
  assert.ok(
    statuses.slice(11).every((status) => status === 429),
    statuses.join(),
  );
});

test('announcements of thousands of keys arrive, whatever the keys contain', async () => {
  await using server = await startTestServer();
  const { database, changes } = server;
  const log = createLog('silent');
  const [here, elsewhere] = [new SharedUses(database.sql, changes, log), new SharedUses(database.sql, changes, log)];
  const received = new Map<string, number>();
  const limit = here.open('one', () => assert.fail('a process ignores what it has announced'));
  elsewhere.open('one', ({ key, uses }) => received.set(key, (received.get(key) ?? 0) + uses));
  const keys = Array.from({ length: 3_000 }, (_, n) => `"[${n}]\\ Žluť 🙂 ${'x'.repeat(n % 300)}`);
  for (const [n, key] of keys.entries()) limit.announce({ key, uses: n + 1, rate: null });
  // It does not fit into a notification.
  limit.announce({ key: 'x'.repeat(8_000), uses: 1, rate: null });
  limit.announce({ key: 'last', uses: -1, rate: null });
  await until(() => received.has('last'));
  assert.deepEqual([...received], [...keys.map((key, n) => [key, n + 1]), ['last', -1]]);
});
